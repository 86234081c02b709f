/** Whom an account knows, made known in tests as its owner would: by rows that point to a session. */
import { createHash, randomBytes } from 'node:crypto'
import type { TestDatabase } from './database.ts'

/** What every request of a test says it is, unless it says otherwise. */
export const userAgent = 'guarantee/1.0'

/** The fingerprint under which every request of a test comes. */
export const fingerprint = createHash('sha256').update(`agent:${userAgent}`).digest('hex')

/** As the owner does it, in a session that is over at once. */
export async function acquaint(
  db: TestDatabase,
  payer: { id: string },
  payee: string,
): Promise<void> {
  const act = await actOfOwner(db, payer)
  await db.sql`insert into private.known_recipients (account, chain_family, address, session)
    values (${payer.id}, 'evm', ${payee}, ${act}) on conflict do nothing`
  await db.sql`insert into private.known_devices (account, key, fingerprint, session)
    select account, id, ${fingerprint}, ${act} from private.credentials
     where account = ${payer.id} and kind <> 'session' on conflict do nothing`
}

/** A session of the owner's that is over, to which a row can point. */
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
