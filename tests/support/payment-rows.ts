/** Payments as the database keeps them, entered without paying, for pages that list many. */
import { createHash } from 'node:crypto'
import { known } from './chain-world.ts'
import type { Agent, TestWorld } from './world.ts'

const { chain, usdc } = known('eip155:84532')

/** Differences of an entered payment. */
export type PaymentRow = {
  /** Number that tells payments apart, and makes hashes and payees that occur once. */
  nth: number
  at: Date
  usdMicros?: bigint
  state?: 'settled' | 'awaiting_confirmation' | 'authorized' | 'declined'
  host?: string
  payee?: string
  alias?: string
  memo?: string
}

/** Returns a hash that occurs once. */
export function hashOf(agent: Agent, nth: number): string {
  return `0x${createHash('sha256').update(`${agent.id} ${nth}`).digest('hex')}`
}

/** Enters a payment of the newest key of an account, settled unless it differs; returns its id. */
export async function enterPayment(
  { db }: TestWorld,
  agent: Agent,
  { nth, at, usdMicros = 1_000_000n, state = 'settled', host, payee, alias, memo }: PaymentRow,
): Promise<string> {
  const hash = hashOf(agent, nth)
  const isPaid = state === 'settled'
  const isReserved = isPaid || state === 'authorized'
  const [row] = await db.sql<{ id: string }[]>`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      payee_alias, terms, memo, amount_atomic, amount_usd_micros, created_at, expires_at,
      consent_level, authorized_at, valid_after, valid_before, tx_hash, block_number, block_hash,
      finality, settled_at)
    select ${agent.id}, k.id, 'test', ${host === undefined ? 'transfer' : 'x402'}, ${state},
      ${chain.id}, ${usdc.address}, ${agent.address}, ${payee ?? hash.slice(0, 42)},
      ${alias ?? null}, ${db.sql.json(host === undefined ? {} : { origin: `https://${host}` })},
      ${memo ?? null}, ${String(usdMicros)}, ${String(usdMicros)}, ${at}, ${at},
      ${isReserved ? 'none' : null}, ${isReserved ? at : null}, 0, ${isReserved ? 0 : null},
      ${isPaid ? hash : null}, ${isPaid ? nth : null}, ${isPaid ? hash : null},
      ${isPaid ? 'finalized' : null}, ${isPaid ? at : null}
    from private.credentials k where k.account = ${agent.id} and k.kind = 'api_key'
    order by k.created_at desc limit 1 returning id`
  if (!row) throw new Error('no payment was entered')
  return row.id
}
