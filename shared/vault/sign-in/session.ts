/**
 * A session at a site between two steps: its cookies, and the forms of the page that was served last.
 * It is sealed under the account's key, in the place of one step of one session.
 */
import * as z from 'zod'
import type { CallerDatabase } from '../../db/database.ts'
import { time } from '../../db/row-fields.ts'
import type { Wrap } from '../../sealing/wrap.ts'
import { sealRecord } from '../envelope.ts'
import type { VaultRoom } from '../room.ts'
import { cookieSchema } from './cookies.ts'
import { formSchema } from './page-forms.ts'

const formsBytesMax = 30_000
/** Codes that were sent and could come back later. */
const sentMax = 16

const stateSchema = z.object({
  cookies: z.array(cookieSchema),
  url: z.string(),
  forms: z.array(formSchema),
  /** Secrets that could come back, until when, in milliseconds of the epoch. */
  sent: z.array(z.object({ text: z.string(), until: z.int() })),
  /** What the agent put into addresses and forms, in small letters. */
  said: z.array(z.string()),
  /** The page is the answer to the user name of the entry, which the service sent to where the site signs in. */
  isBehindName: z.boolean(),
  /** A secret was sent that is too short to be found in answers. */
  isUntold: z.boolean(),
})

/** What is known of a session. */
export type SessionState = z.output<typeof stateSchema>

/** Which session it is, and the step that it was kept after; 0 before it is kept at all. */
export type Session = { id: string; step: number; state: SessionState }

/** Where it belongs: the account with its wrapped key, and the entry with its site. */
export type Home = { account: string; wrap: Wrap; entry: string; site: string }

/** A session that nothing has been asked in. */
export function newSession(id: string): Session {
  return {
    id,
    step: 0,
    state: {
      cookies: [],
      url: '',
      forms: [],
      sent: [],
      said: [],
      isBehindName: false,
      isUntold: false,
    },
  }
}

/** Opens what was kept. */
export function openSession(
  room: VaultRoom,
  { account, wrap, site }: Home,
  { id, step, sealed }: { id: string; step: number; sealed: unknown },
): Session {
  const place = { account, record: id, version: step, site }
  const bytes = room.open('vault', { ...place, wrap, sealed })
  const state = stateSchema.parse(JSON.parse(new TextDecoder().decode(bytes)))
  const now = room.world.now().getTime()
  return { id, step, state: { ...state, sent: state.sent.filter(({ until }) => until > now) } }
}

const keptRow = z.object({ expires_at: time })

/** Keeps it; nothing comes back when a step at the same time was kept instead. */
export async function keepSession(
  room: VaultRoom,
  db: CallerDatabase,
  { account, wrap, entry, site }: Home,
  { id, step, state }: Session,
): Promise<string | undefined> {
  const place = { account, record: id, version: step + 1, site }
  const keys = { roots: room.roots('vault'), wrap }
  const random = (length: number) => room.world.randomBytes(length)
  const sealed = sealRecord(keys, random, place, new TextEncoder().encode(encoded(state)))
  const asked = { session: id, entry, was_step: step, sealed }
  return (await db.one('vault_keep_session', asked, keptRow))?.expires_at
}

/** Forms for which there is no room can be looked at and not sent. */
function encoded(state: SessionState): string {
  const encoder = new TextEncoder()
  let room = formsBytesMax
  const forms = state.forms.map((form) => {
    room -= encoder.encode(JSON.stringify(form)).length
    return room < 0 ? { ...form, action: '', controls: [] } : form
  })
  return JSON.stringify({ ...state, forms, sent: state.sent.slice(-sentMax) })
}
