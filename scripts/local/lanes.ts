/**
 * Relayer lanes of a local chain. Chain and database are saved apart, so after a crash the chain may
 * be the older one; what it lost is sent again from the stored bytes, never signed anew.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from 'postgres'
import * as z from 'zod'
import type { Roots } from '../../shared/custody/roots.ts'
import { openLane } from '../provision.ts'
import type { Chain } from './chain.ts'
import { fund } from './fund.ts'
import { callRpc } from './rpc.ts'

const gasWei = 10n ** 20n
const minedTimeoutMilliseconds = 10_000
const pollMilliseconds = 20

const address = z.custom<`0x${string}`>((value) => /^0x[0-9a-fA-F]{40}$/.test(String(value)))
const laneRows = z.array(z.object({ address, kind: z.string(), next_nonce: z.coerce.bigint() }))
const quantity = z.string().transform((hex) => BigInt(hex))

export type LaneRepair = {
  /** Transactions that were sent again. */
  resent: number
  /** Settled payments whose block the chain no longer has. */
  orphaned: number
}

/** Sees that the chain has a funded relayer and that its nonces and the database's agree. */
export async function readyLanes(sql: Sql, roots: Roots, chain: Chain): Promise<LaneRepair> {
  const orphaned = await countOrphans(sql, chain)
  const lanes = laneRows.parse(
    await sql`select address, kind, next_nonce::text from private.relay_lanes
      where chain = ${chain.chainId}`,
  )
  let resent = 0
  for (const lane of lanes) {
    if (lane.kind === 'relayer') await fund(chain, lane.address, { weiAmount: gasWei })
    resent += await repair(sql, chain, lane)
  }
  if (!lanes.some(({ kind }) => kind === 'relayer')) {
    const relayer = await openLane(sql, roots, { chainId: chain.chainId, nonce: 0 })
    await fund(chain, relayer, { weiAmount: gasWei })
  }
  return { resent, orphaned }
}

async function countOrphans(sql: Sql, chain: Chain): Promise<number> {
  const [latest] = await callRpc(chain.rpcUrl, [['eth_blockNumber']])
  const rows = await sql`select id from private.payments
    where chain = ${chain.chainId} and block_number > ${quantity.parse(latest).toString()}`
  return rows.length
}

async function repair(
  sql: Sql,
  chain: Chain,
  lane: z.output<typeof laneRows>[number],
): Promise<number> {
  const first = await nonceOf(chain, lane.address)
  if (first > lane.next_nonce && lane.kind === 'relayer') {
    await sql`select private.open_lane(${chain.chainId}, address, envelope, ${first.toString()})
      from private.custody_keys where address = ${lane.address}`
  }
  let nonce = first
  for (; nonce < lane.next_nonce; nonce += 1n) {
    const raw = await storedTransaction(sql, chain, lane.address, nonce)
    // A slot that nobody signed yet is still to be used; those after it wait for it.
    if (raw === undefined) break
    await resend(chain, lane.address, nonce, raw)
  }
  return Number(nonce - first)
}

async function storedTransaction(sql: Sql, chain: Chain, lane: string, nonce: bigint) {
  const rows = await sql`
    select t.raw from private.relay_slots s join private.relay_transactions t on t.slot = s.id
     where s.chain = ${chain.chainId} and s.lane = ${lane} and s.nonce = ${nonce.toString()}
     order by t.attempt desc limit 1`
  return z.array(z.object({ raw: z.string() })).parse([...rows])[0]?.raw
}

async function resend(chain: Chain, lane: string, nonce: bigint, raw: string): Promise<void> {
  try {
    await callRpc(chain.rpcUrl, [['eth_sendRawTransaction', raw]])
  } catch {
    // Bytes that the chain refuses would hold up the lane for good; outside, a fee bump would do.
    await callRpc(chain.rpcUrl, [['anvil_setNonce', lane, `0x${(nonce + 1n).toString(16)}`]])
  }
  const deadline = Date.now() + minedTimeoutMilliseconds
  while ((await nonceOf(chain, lane)) <= nonce) {
    if (Date.now() > deadline) throw new Error(`chain ${chain.chainId} does not mine ${lane}`)
    await pause(pollMilliseconds)
  }
}

async function nonceOf(chain: Chain, lane: string): Promise<bigint> {
  const [count] = await callRpc(chain.rpcUrl, [['eth_getTransactionCount', lane, 'latest']])
  return quantity.parse(count)
}
