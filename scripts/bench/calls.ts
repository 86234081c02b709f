/** The database calls of a payment, made as the product makes them, for the measurements that time them. */
import type { Sql } from 'postgres'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { factsOf } from '../../shared/payments/decide/decision-facts.ts'
import { paymentWithFactsRow } from '../../shared/payments/payment-with-facts.ts'
import { decide } from '../../shared/policy/decide.ts'
import { type BenchWorld, secrets } from './world.ts'

/** Address that the payments go to. */
export const payee = `0x${'a'.repeat(40)}`
/** Address of USDC on Base Sepolia. */
export const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

/** Keyed hash of an API key, by which the database knows the caller. */
export type Caller = { credential: string }

/** Opens a caller that has no limit below a billion USD. */
export async function callerOf(world: BenchWorld, sql: Sql): Promise<Caller> {
  const { id, key } = await world.agent(sql)
  await sql`update private.accounts set asserted_daily_limit_usd_micros = 10 ^ 15,
    asserted_new_recipient_limit_usd_micros = 10 ^ 15,
    daily_spending_cap_usd_micros = 10 ^ 15 where id = ${id}`
  return { credential: await credentialOf(key, secrets.pepper) }
}

/** Enters a payment of one cent and returns its id. */
export async function begin(sql: Sql, { credential }: Caller): Promise<string> {
  const [row] = await sql`select * from api.begin_payment(${credential}, 'x402', 'bench', 84532,
    ${token}, '10000', '10000', '{}', 3600, ${payee})`
  return paymentWithFactsRow.parse(row).payment_row.id
}

/** Reads the facts, decides and reserves. Throws if the payment is not authorized. */
export async function reserve(sql: Sql, { credential }: Caller, payment: string): Promise<void> {
  const [row] = await sql`
    select * from api.payment_facts(${credential}, ${payment}, 'x402', 'bench')`
  const entered = paymentWithFactsRow.parse(row)
  const decision = decide(await factsOf(entered, true))
  if (decision.verdict !== 'allow') throw new Error(`not allowed: ${decision.verdict}`)
  const [answer] = await sql`select outcome from api.custody_authorize(${credential}, ${payment},
    ${decision.consentLevel}, ${entered.facts.version}, '1000000000000', 0,
    extract(epoch from private.clock())::bigint + 600, 45, seen_block => 1, cost_wei => '1')`
  if (answer?.['outcome'] !== 'authorized') throw new Error(String(answer?.['outcome']))
}
