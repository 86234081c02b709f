/**
 * Checks that relayers did not spend more than one account may use up. It reads the receipts of everything
 * sent and tells transfers and cancellations apart by their calls.
 */
import { keccak256, Transaction } from 'ethers'
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/rpc.ts'
import type { Play } from './play.ts'

/** Seconds of a day, minus the longest time between a signature and its block. */
const windowSeconds = 86_400 - 15 * 60
// Selectors of cancelAuthorization with its signature in three words, and as bytes.
const cancellation = /5a049a70|b7b72899/
const transfer = /e3ee160e|cf092995/

const quantity = z.string().transform(BigInt)
const receipts = z.array(
  z.nullable(z.object({ gasUsed: quantity, effectiveGasPrice: quantity, blockNumber: z.string() })),
)
const block = z.object({ timestamp: quantity })

type Spent = { at: number; wei: bigint; calls: number; cancels: number }

/** Returns a description of the exceeded budget; undefined if none is exceeded or none exists. */
export async function brokenGasBudget(play: Play): Promise<string | undefined> {
  const terms = await budgetOf(play)
  if (!terms) return undefined
  const spent = await spentByLanes(play)
  for (const { at: end } of spent) {
    const window = spent.filter(({ at }) => at > end - windowSeconds && at <= end)
    const moving = window.filter(({ calls }) => calls > 0)
    const wei = moving.reduce((sum, one) => sum + one.wei, 0n)
    if (wei > terms.wei) return `gas: ${wei} wei went for transfers in a day, of ${terms.wei}`
    const calls = moving.reduce((sum, one) => sum + one.calls, 0)
    if (calls > terms.calls) return `gas: ${calls} transfers a day, of ${terms.calls}`
    const cancels = window.reduce((sum, one) => sum + one.cancels, 0)
    if (cancels > terms.cancels) return `gas: ${cancels} cancellations a day, of ${terms.cancels}`
  }
  return undefined
}

type Budget = { wei: bigint; calls: number; cancels: number }

async function budgetOf({ world }: Play): Promise<Budget | undefined> {
  const { sql } = world.db
  const [found] = await sql<{ at: string | null }[]>`select to_regclass('private.gas_terms') as at`
  if (!found?.at) return undefined
  const [row] = await sql<{ wei: string; calls: number; cancels: number }[]>`
    select wei_per_day::text as wei, calls_per_day as calls, cancels_per_day as cancels
      from private.gas_terms
     where chain in (0, ${world.chain.chainId}) order by chain desc limit 1`
  return row && { ...row, wei: BigInt(row.wei) }
}

async function spentByLanes({ network, world, lanes }: Play): Promise<Spent[]> {
  const raws = [...network.accepted].filter((raw) => isOfLane(raw, lanes.addresses))
  const { rpcUrl } = world.chain
  const ask = raws.map((raw) => ['eth_getTransactionReceipt', keccak256(raw)] as const)
  const found = ask.length === 0 ? [] : receipts.parse(await callRpc(rpcUrl, ask))
  const mined = found.flatMap((receipt, at) => (receipt ? [{ receipt, raw: raws[at] ?? '' }] : []))
  const blocks = mined.map(
    ({ receipt }) => ['eth_getBlockByNumber', receipt.blockNumber, false] as const,
  )
  const times = blocks.length === 0 ? [] : await callRpc(rpcUrl, blocks)
  return mined.map(({ receipt, raw }, at) => ({
    at: Number(block.parse(times[at]).timestamp),
    wei: receipt.gasUsed * receipt.effectiveGasPrice,
    calls: countIn(raw, transfer),
    cancels: countIn(raw, cancellation),
  }))
}

function isOfLane(raw: string, lanes: readonly string[]): boolean {
  const { from } = Transaction.from(raw)
  return lanes.some((lane) => lane.toLowerCase() === from?.toLowerCase())
}

function countIn(raw: string, call: RegExp): number {
  return [...raw.matchAll(new RegExp(call, 'g'))].length
}
