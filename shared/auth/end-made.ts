/**
 * "It was not me": lists what was made in the account since a time, and ends all of it in one act. The
 * database decides what may be ended and by which proof (supabase/migrations/20261121000045_not_me.sql).
 */
import * as z from 'zod'
import { recentAccessRevoked } from '../mail/access-messages.ts'
import { utc } from '../mail/deed.ts'
import { newSession, sessionTokenOf } from './new-session.ts'
import type { OwnerSession } from './own-session.ts'
import { sealSessionNotice } from './own-session.ts'
import { hashPassword } from './password.ts'

const listRow = z.object({
  /** Start of the period; not before the passkey or password of the session's proof was made. */
  counts_from: z.string(),
  until: z.string(),
  made: z.array(
    z.object({
      kind: z.enum([
        'passkey',
        'api_key',
        'oauth',
        'recovery_codes',
        'push_device',
        'password',
        'recipient',
        'device',
        'mandate',
        'destination',
        'widening',
        'entry',
      ]),
      id: z.string(),
      name: z.string(),
      at: z.string(),
    }),
  ),
  /** Number of items beyond those that a page shows. */
  left_out: z.int(),
  digest: z.string(),
  waiting: z.int(),
  removed_passkeys: z.array(
    z.object({ id: z.string(), label: z.string(), created_at: z.string(), removed_at: z.string() }),
  ),
})
/** Items made since a time, and the digest that the form which ends them must carry. */
export type AccessChanges = z.output<typeof listRow>

const endedRow = z.object({
  outcome: z.enum(['ended', 'changed']),
  account_opened: z.string().nullable(),
  expires_at: z.string().nullable(),
})

/** Returns what was made since a time, for display to the owner. Throws if the database answers no row. */
export async function listAccessChanges(
  { db }: Pick<OwnerSession, 'db'>,
  since: string,
): Promise<AccessChanges> {
  const list = await db.one('owner_list_made', { since }, listRow)
  if (!list) throw new Error('owner_list_made answered no row')
  return list
}

/** The list that the owner saw and confirms. */
export type ShownAccessChanges = { since: string; until: string; digest: string }

/**
 * Ends everything on the list and returns the new token of this session, the only session that continues.
 * Returns undefined if the list was shown for another account or other times.
 */
export async function undoAccessChanges(
  session: OwnerSession,
  shown: ShownAccessChanges,
  given: { password: string | undefined; putBack: string[] },
): Promise<string | undefined> {
  const { world, db } = session
  const since = utc(new Date(shown.since))
  const mail = await sealSessionNotice(session, (webUrl, deed) =>
    recentAccessRevoked(webUrl, { ...deed, since }),
  )
  const { sid, session_digest } = await newSession(world)
  const password_hash = given.password === undefined ? null : hashPassword(world, given.password)
  const args = { ...shown, session_digest, put_back: given.putBack, password_hash, mail }
  const ended = await db.one('owner_end_made', args, endedRow)
  const { account_opened, expires_at } = ended ?? {}
  if (!account_opened || !expires_at) return undefined
  return sessionTokenOf(world, sid, { account_opened, expires_at })
}
