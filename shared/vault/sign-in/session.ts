/**
 * A session at a site between two steps: its cookies, and the forms of the last served page. It is sealed
 * under the account's key and bound to one step of one session.
 */
import * as z from 'zod'
import type { CallerDatabase } from '../../db/database.ts'
import { time } from '../../money/row-fields.ts'
import type { WrappedAccountKey } from '../../sealing/wrap.ts'
import { sealRecord } from '../envelope.ts'
import type { VaultContext } from '../room.ts'
import { cookieSchema } from './cookies.ts'
import { formSchema } from './forms.ts'

const formsBytesMax = 30_000

const stateSchema = z.object({
  cookies: z.array(cookieSchema),
  url: z.string(),
  forms: z.array(formSchema),
  /** True if the page answers a form with a password or a code. */
  isAnswer: z.boolean(),
})

/** Stored state of a session. */
export type SessionState = z.output<typeof stateSchema>

/** A session, with the number of the step that it was stored after; 0 before it is stored. */
export type Session = { id: string; step: number; state: SessionState }

/** Owner of a session: the account with its wrapped key, and the entry with its site. */
export type Home = { account: string; wrap: WrappedAccountKey; entry: string; site: string }

/** Returns a session without any request yet. */
export function newSession(id: string): Session {
  return {
    id,
    step: 0,
    state: {
      cookies: [],
      url: '',
      forms: [],
      isAnswer: false,
    },
  }
}

/** Opens a stored session. */
export function openSession(
  context: VaultContext,
  { account, wrap, site }: Home,
  { id, step, sealed }: { id: string; step: number; sealed: unknown },
): Session {
  const binding = { account, record: id, version: step, site }
  const bytes = context.open('vault', { ...binding, wrap, sealed })
  const state = stateSchema.parse(JSON.parse(new TextDecoder().decode(bytes)))
  return { id, step, state }
}

const keptRow = z.object({ expires_at: time })

/** Stores the session and returns its end; undefined if a concurrent step was stored instead. */
export async function storeSession(
  context: VaultContext,
  db: CallerDatabase,
  { account, wrap, entry, site }: Home,
  { id, step, state }: Session,
): Promise<string | undefined> {
  const binding = { account, record: id, version: step + 1, site }
  const keys = { roots: context.roots('vault'), wrap }
  const random = (length: number) => context.world.randomBytes(length)
  const sealed = sealRecord(keys, random, binding, new TextEncoder().encode(encoded(state)))
  const asked = { session: id, entry, was_step: step, sealed }
  return (await db.one('vault_keep_session', asked, keptRow))?.expires_at
}

/** Encodes the state. Forms that exceed the limit keep no address or fields, so they cannot be sent. */
function encoded(state: SessionState): string {
  const encoder = new TextEncoder()
  let room = formsBytesMax
  const forms = state.forms.map((form) => {
    room -= encoder.encode(JSON.stringify(form)).length
    return room < 0 ? { ...form, action: '', controls: [] } : form
  })
  return JSON.stringify({ ...state, forms })
}
