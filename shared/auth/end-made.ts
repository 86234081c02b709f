/**
 * "It was not me": what was made in the account since a time, and its end by one act. What may be ended and
 * by which proof the database decides (supabase/migrations/20261121000045_not_me.sql).
 */
import * as z from 'zod'
import { madeEnded } from '../mail/access-messages.ts'
import { utc } from '../mail/deed.ts'
import { newSession, tokenOf } from './new-session.ts'
import type { OwnSession } from './own-session.ts'
import { notice } from './own-session.ts'
import { hashPassword } from './password.ts'

const listRow = z.object({
  /** Since when things may be ended: not before the proof of the session was made. */
  counts_from: z.string(),
  until: z.string(),
  made: z.array(
    z.object({
      kind: z.enum([
        'passkey',
        'api_key',
        'oauth',
        'recovery_codes',
        'password',
        'recipient',
        'device',
        'mandate',
        'place',
        'widening',
        'entry',
      ]),
      id: z.string(),
      name: z.string(),
      at: z.string(),
    }),
  ),
  /** Counts those beyond what a page shows. */
  left_out: z.int(),
  digest: z.string(),
  waiting: z.int(),
  removed_passkeys: z.array(
    z.object({ id: z.string(), label: z.string(), created_at: z.string(), removed_at: z.string() }),
  ),
})
/** What was made since, and what the form that ends it has to bring. */
export type MadeSince = z.output<typeof listRow>

const endedRow = z.object({
  outcome: z.enum(['ended', 'changed']),
  account_opened: z.string().nullable(),
  expires_at: z.string().nullable(),
})

/** What was made since, as the owner is shown it. */
export async function listMade({ db }: Pick<OwnSession, 'db'>, since: string): Promise<MadeSince> {
  const list = await db.one('owner_list_made', { since }, listRow)
  if (!list) throw new Error('owner_list_made answered no row')
  return list
}

/** What the owner was shown and confirms. */
export type Shown = { since: string; until: string; digest: string }

/**
 * Ends it; answers the new token of this session, which is the only one that goes on. Undefined when it
 * was shown for another account or other times.
 */
export async function endMade(
  session: OwnSession,
  shown: Shown,
  given: { password: string | undefined; putBack: string[] },
): Promise<string | undefined> {
  const { world, db } = session
  const since = utc(new Date(shown.since))
  const mail = await notice(session, (webUrl, deed) => madeEnded(webUrl, { ...deed, since }))
  const { sid, session_digest } = await newSession(world)
  const password_hash = given.password === undefined ? null : hashPassword(world, given.password)
  const args = { ...shown, session_digest, put_back: given.putBack, password_hash, mail }
  const ended = await db.one('owner_end_made', args, endedRow)
  const { account_opened, expires_at } = ended ?? {}
  if (!account_opened || !expires_at) return undefined
  return tokenOf(world, sid, { account_opened, expires_at })
}
