/**
 * "Secure my account": ends every way into the account but the one that it was proven with, and everything that waits
 * or is trusted, in one act of the owner (supabase/schemas/82_secure.sql).
 */
import * as z from 'zod'
import { accountSecured } from '../mail/access-messages.ts'
import {
  newSession,
  type OwnerSession,
  openedRow,
  sealSessionNotice,
  sessionTokenOf,
} from './new-session.ts'
import { hashPassword } from './password.ts'

const itemRow = z.object({
  kind: z.enum([
    'api_key',
    'oauth',
    'mandate',
    'recipient',
    'limit',
    'passkey',
    'destination',
    'push_device',
  ]),
  id: z.string(),
  name: z.string(),
  scope: z.string().nullish(),
  /** Caps of a key, and a raised limit, in USD. */
  usd_per_payment: z.string().nullish(),
  usd_per_day: z.string().nullish(),
  usd: z.string().nullish(),
})
/** Item that ends, or ended, with what its owner needs to make it again. */
export type EndedItem = z.output<typeof itemRow>

const securedRow = z.object({
  ends: z.array(itemRow),
  secured_at: z.string().nullable(),
  ended: z.array(itemRow).nullable(),
})
/** Items that would end now, and those that ended when the account was last secured; null if it never was. */
export type Secured = z.output<typeof securedRow>

/** Returns what would end and what ended. Throws if the database answers no row. */
export async function readSecured({ db }: Pick<OwnerSession, 'db'>): Promise<Secured> {
  const row = await db.one('owner_read_secured', {}, securedRow)
  if (!row) throw new Error('owner_read_secured answered no row')
  return row
}

/**
 * Secures the account and returns the new token of this session, the only one that goes on. An owner who has a
 * password brings another one, which was checked.
 */
export async function secureAccount(
  session: OwnerSession,
  password: string | undefined,
): Promise<string | undefined> {
  const { world, db } = session
  const mail = await sealSessionNotice(session, accountSecured)
  const { sid, session_digest } = await newSession(world)
  const password_hash = password === undefined ? null : hashPassword(world, password)
  const args = { session_digest, password_hash, mail }
  return sessionTokenOf(world, sid, await db.one('owner_secure', args, openedRow))
}
