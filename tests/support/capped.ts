/** Keys and apps with caps of their own, at the database. */
import { credentialOf } from '../../shared/auth/api-key.ts'
import type { Agent, TestWorld } from './world.ts'
import { fingerprint, pepper } from './world.ts'

/** In whole USD; absent is no cap. */
export type CapsUsd = { each?: number; day?: number }
export type Capped = Agent & { holder: string }

const micros = (usd: number | undefined) => (usd === undefined ? null : usd * 1_000_000)

/** Another key of the account, that pays from a known device. */
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
    insert into private.known_devices (account, key, fingerprint)
    select account, id, ${fingerprint} from capped returning key as id`
  return { ...key, holder: row?.id ?? '' }
}

/** An app that the owner let in: its token stands in the ledger as what a grant is reached by. */
export async function appWith(
  tests: Pick<TestWorld, 'db'>,
  agent: Agent,
  caps: CapsUsd = {},
): Promise<Capped> {
  const app = await keyWith(tests, agent, caps)
  await tests.db.sql`
    with granted as (
      update private.credentials set kind = 'oauth', digest = null, shown = 'app.example'
       where id = ${app.holder} returning id, scopes
    )
    insert into private.access_tokens (digest, granted, scopes, expires_at)
    select ${await credentialOf(app.key, pepper)}, id, scopes, private.clock() + interval '2 days'
      from granted`
  return app
}
