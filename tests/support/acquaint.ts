/**
 * Makes recipients and devices known to an account in tests, by the same rows that an owner's act writes:
 * each points to a session.
 */
import { createHash } from 'node:crypto'
import type { TestDatabase } from './database.ts'
import { randomBytes } from './seed.ts'

/** User agent that every request of a test sends, unless the test sets another. */
export const userAgent = 'guarantee/1.0'

/** Device fingerprint of every request of a test. */
export const fingerprint = fingerprintOf(`agent:${userAgent}`)

/** Returns the fingerprint of a device: `agent:` and a user agent, or `id:` and the name that it gives itself. */
export function fingerprintOf(device: string): string {
  return createHash('sha256').update(device).digest('hex')
}

/** Makes the payee and the account's devices known, as an act of the owner in an ended session. */
export async function acquaint(
  db: TestDatabase,
  payer: { id: string },
  payee: string,
  device = fingerprint,
): Promise<void> {
  const act = await actOfOwner(db, payer)
  await db.sql`insert into private.known_recipients (account, chain_family, address, session)
    values (${payer.id}, 'evm', ${payee}, ${act}) on conflict do nothing`
  await db.sql`insert into private.known_devices (account, key, fingerprint, session)
    select account, id, ${device}, ${act} from private.credentials
     where account = ${payer.id} and kind <> 'session' on conflict do nothing`
}

/** Creates an ended session of the owner that a row can point to, and returns its id. */
export async function actOfOwner(
  { sql }: Pick<TestDatabase, 'sql'>,
  { id }: { id: string },
): Promise<string> {
  const [act] = await sql<{ id: string }[]>`
    insert into private.credentials (account, kind, digest, label, shown, scopes, revoked_at)
    values (${id}, 'session', ${randomBytes(32).toString('hex')}, 'Test', 'session', '{owner}',
      private.clock()) returning id`
  if (!act) throw new Error('no session was opened')
  return act.id
}
