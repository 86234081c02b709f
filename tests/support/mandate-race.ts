/** Payments that race for one mandate over connections of their own, directly at custody's SQL decision. */

import type { Sql } from 'postgres'
import postgres from 'postgres'
import { expect } from 'vitest'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { atEnd } from './ending.ts'
import { type GivenMandate, giveMandate, type MandateOrder } from './mandates.ts'
import { type Agent, fingerprint, pepper, start, type TestWorld } from './world.ts'

const connections = 24
const token = `0x${'1'.repeat(40)}`
const payee = `0x${'2'.repeat(40)}`
const priceMicros = 100_000n

export type MandateRace = { world: TestWorld; sql: Sql }

/** Starts everything for this file and ends it after the file. */
export async function openMandateRace(): Promise<MandateRace> {
  const world = await start()
  const sql = postgres(world.db.url, { max: connections, onnotice() {} })
  atEnd(() => sql.end({ timeout: 1 }))
  return { world, sql }
}

export type Racers = GivenMandate & {
  agent: Agent
  credential: string
  /** Ids of payments that are prepared and not yet decided. */
  payments: readonly string[]
}

/** Creates an account with a mandate and this many payments that fit it. */
export async function lineUp(
  { world, sql }: MandateRace,
  count: number,
  order: MandateOrder,
): Promise<Racers> {
  const agent = await world.agent('pay')
  const given = await giveMandate(world, agent, order)
  await sql`update private.accounts set daily_spending_cap_usd_micros = 1000000000000
    where id = ${agent.id}`
  const rows = await sql<{ id: string }[]>`
    insert into private.payments (account, key, device, kind, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, terms, verified_with_merchant, expires_at)
    select ${agent.id}, k.id, ${fingerprint}, 'x402', 84532, ${token}, ${agent.address}, ${payee},
      ${priceMicros.toString()}, ${priceMicros.toString()}, '{"origin":"http://127.0.0.1:1"}', true,
      private.clock() + interval '7 days'
    from private.credentials k, generate_series(1, ${count})
   where k.account = ${agent.id} and k.kind = 'api_key' returning id`
  const credential = await credentialOf(agent.key, pepper)
  return { ...given, agent, credential, payments: rows.map(({ id }) => id) }
}

/** Asks custody to decide about one payment under the mandate. */
export async function authorize({ sql }: MandateRace, racers: Racers, payment: string) {
  const [row] = await sql<{ outcome: string }[]>`
    select c.outcome from private.accounts a, api.custody_authorize(${racers.credential}, ${payment},
      'mandate', a.facts_version, '1000000000000', 0,
      extract(epoch from private.clock())::bigint + 600, 45, seen_block => 1, cost_wei => '1',
      mandate => ${racers.id}) c
    where a.id = ${racers.agent.id}`
  return row?.outcome ?? 'refused'
}

/** Counts the payments that were authorized under the mandate, whatever happened to them later. */
export async function carriedBy({ sql }: MandateRace, { id }: Racers): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::integer as count
    from private.payments p where p.mandate = ${id}`
  return row?.count ?? 0
}

/** Orders that each let a hundred payments through, by different caps. */
export const roomForAHundred: readonly MandateOrder[] = [
  { max_payments: 100 },
  { max_day_usd_micros: (100n * priceMicros).toString() },
  { max_total_usd_micros: (100n * priceMicros + priceMicros - 1n).toString() },
]

/** Throws unless exactly a hundred of 200 simultaneous payments pass and the others also fail afterwards. */
export async function raceForMandate(race: MandateRace, order: MandateOrder): Promise<void> {
  const racers = await lineUp(race, 200, order)

  const outcomes = await Promise.all(racers.payments.map((one) => authorize(race, racers, one)))
  const again = await Promise.all(racers.payments.map((one) => authorize(race, racers, one)))

  expect(outcomes.filter((outcome) => outcome === 'authorized')).toHaveLength(100)
  expect(again).toEqual(outcomes)
  expect(new Set(outcomes)).toEqual(new Set(['authorized', 'stale']))
  expect(await carriedBy(race, racers)).toBe(100)
}
