/** An owner who is signed in, with an account that has a page of activity. */
import { randomBytes } from 'node:crypto'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { openSessionToken } from '../../shared/auth/session.ts'
import { worldFrom } from '../../shared/world.ts'
import { type BenchWorld, bindingsOf, secrets } from './world.ts'

/** Opens the account and its session. Returns the session's cookie. */
export async function openOwner(bench: BenchWorld): Promise<string> {
  const { id } = await bench.agent(bench.sql)
  const sid = randomBytes(32).toString('base64url')
  const digest = await credentialOf(sid, secrets.pepper)
  await bench.sql`insert into private.owners (account, email)
    values (${id}, ${`${id}@example.com`})`
  const expiresAt = new Date(Date.now() + 12 * 3_600_000)
  await bench.sql`with opened as (insert into private.credentials
      (account, kind, digest, label, shown, scopes, expires_at, burst, per_second)
    values (${id}, 'session', ${digest}, 'Bench', 'session', '{owner}', ${expiresAt}, 1000000, 10000)
    returning id)
    insert into private.sessions (credential, signed_in_with, ends_at, user_agent, client)
    select id, 'password', ${expiresAt}, 'bench/1.0', 'direct' from opened`
  await bench.sql`insert into private.activities (account, category, type, summary)
    select ${id}, 'account', 'bench', 'Entry ' || n || ' of the feed' from generate_series(1, 40) n`
  const world = worldFrom(bindingsOf(bench, bench.chain.rpcUrl))
  return `__Host-aoa_session=${await openSessionToken(world, { sid, account: id, expiresAt })}`
}
