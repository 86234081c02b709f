/** The database's calls on a payment's way, made as the product makes them, for what times them. */
import type { Sql } from 'postgres'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { factsOf } from '../../shared/payments/decision-facts.ts'
import { enteredRow } from '../../shared/payments/entered.ts'
import { decide } from '../../shared/policy/decide.ts'
import type { BenchWorld } from './world.ts'
import { secrets } from './world.ts'

export const payee = `0x${'a'.repeat(40)}`
export const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

export type Caller = { credential: string }

/** A caller with no limit below a billion USD. */
export async function callerOf(world: BenchWorld, sql: Sql): Promise<Caller> {
  const { id, key } = await world.agent(sql)
  await sql`update private.accounts set asserted_daily_limit_usd_micros = 10 ^ 15,
    asserted_new_recipient_limit_usd_micros = 10 ^ 15,
    daily_spending_cap_usd_micros = 10 ^ 15 where id = ${id}`
  return { credential: await credentialOf(key, secrets.pepper) }
}

/** Enters a payment of a cent. */
export async function begin(sql: Sql, { credential }: Caller): Promise<string> {
  const [row] = await sql`select * from api.begin_payment(${credential}, 'x402', 'bench', 84532,
    ${token}, '10000', '10000', '{}', 3600, ${payee})`
  return enteredRow.parse(row).payment_row.id
}

/** Reads the facts, decides and reserves. */
export async function reserve(sql: Sql, { credential }: Caller, payment: string): Promise<void> {
  const [row] = await sql`
    select * from api.payment_facts(${credential}, ${payment}, 'x402', 'bench')`
  const entered = enteredRow.parse(row)
  const decision = decide(await factsOf(entered, true))
  if (decision.verdict !== 'allow') throw new Error(`not allowed: ${decision.verdict}`)
  const [answer] = await sql`select outcome from api.custody_authorize(${credential}, ${payment},
    ${decision.consentLevel}, ${entered.facts.version}, '1000000000000', 1, 0, 4000000000, 45)`
  if (answer?.['outcome'] !== 'authorized') throw new Error(String(answer?.['outcome']))
}
