/** Keys and apps with caps of their own, created in the database. */
import { digestOfToken, newToken } from '../../shared/auth/access-token.ts'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { type Agent, actOfOwner, fingerprint, pepper, type TestWorld } from './world.ts'

/** Caps in whole USD; an absent one means no cap. */
export type CapsUsd = { each?: number; day?: number }
export type Capped = Agent & { holder: string }

const micros = (usd: number | undefined) => (usd === undefined ? null : usd * 1_000_000)

/** Creates another key of the account that pays from a known device. */
export async function keyWith(
  { db }: Pick<TestWorld, 'db'>,
  agent: Agent,
  { each, day }: CapsUsd = {},
): Promise<Capped> {
  const key = await agent.withKey('pay')
  const [row] = await db.sql<{ id: string }[]>`
    with capped as (
      update private.credentials set max_per_payment_usd_micros = ${micros(each)},
        max_per_day_usd_micros = ${micros(day)}
       where digest = ${await credentialOf(key.key, pepper)} returning account, id
    )
    insert into private.known_devices (account, key, fingerprint, session)
    select account, id, ${fingerprint}, ${await actOfOwner(db, agent)} from capped
    returning key as id`
  return { ...key, holder: row?.id ?? '' }
}

/** Creates an app that the owner connected and that pays from a known device. */
export async function appWith(
  tests: Pick<TestWorld, 'db' | 'world'>,
  agent: Agent,
  caps: CapsUsd = {},
): Promise<Capped> {
  const { holder } = await keyWith(tests, agent, caps)
  await tests.db.sql`
    update private.credentials set kind = 'oauth', digest = null, shown = 'app.example'
     where id = ${holder}`
  return { ...(await actingBy(tests, agent, holder)), holder }
}

/** Returns an agent that uses a new access token of a grant. */
export async function actingBy(
  { db, world }: Pick<TestWorld, 'db' | 'world'>,
  agent: Agent,
  grant: string,
): Promise<Agent> {
  const key = newToken(world, 'access')
  const digest = await digestOfToken(world, key)
  await db.sql`
    insert into private.access_tokens (digest, granted, scopes, expires_at)
    select ${digest}, id, scopes, private.clock() + interval '2 days'
      from private.credentials where id = ${grant}`
  const bearer = { authorization: `Bearer ${key}` }
  return {
    ...agent,
    key,
    get: (path, headers) => agent.get(path, { ...bearer, ...headers }),
    post: (path, body, headers) => agent.post(path, body, { ...bearer, ...headers }),
  }
}
