/**
 * What a transaction may cost. Suggestions follow EIP-1559: room for the base fee to double, plus a
 * tip that most of the recent blocks took, by the median of the endpoints. All amounts in wei.
 */
import * as z from 'zod'
import { quantitySchema } from '../hex.ts'
import { listOf } from '../list.ts'
import type { RpcAnswer, RpcCall, Unavailable } from './answer.ts'
import { readAnswer } from './answer.ts'

/**
 * Gas limit of a lane's transaction with so many calls. Circle's token takes 102,886 for one
 * transferWithAuthorization to a fresh payee and 73,725 for each of 25 in a batch; 21,000 are enough for
 * none. Fixed, so that a node's estimate cannot change what is signed.
 */
export function relayGas(chainId: number, calls: number): bigint {
  const several = 60_000n + 110_000n * BigInt(calls)
  const execution = calls === 0 ? 40_000n : calls === 1 ? 160_000n : several
  return nitroChainIds.has(chainId) ? 4n * execution : execution
}

/** Nitro chains charge for posting calldata in units of gas; what is not used is not paid. */
const nitroChainIds = new Set([42161, 421614])

/** Fees per gas, in wei. */
export type Fees = { baseFeePerGas: bigint; maxPriorityFeePerGas: bigint; maxFeePerGas: bigint }

const historyBlocks = 5
const tipMinimum = 1_000_000n

const hasSome = (list: readonly bigint[]) => list.length > 0

const historySchema = z.object({
  baseFeePerGas: listOf(quantitySchema, historyBlocks + 1).refine(hasSome),
  // One percentile is asked for.
  reward: listOf(listOf(quantitySchema, 1).refine(hasSome), historyBlocks).nullish(),
})

/** Asks for the base fee of the next block and the median tips of the last ones. */
export const feeHistoryCall: RpcCall = {
  method: 'eth_feeHistory',
  params: [`0x${historyBlocks.toString(16)}`, 'latest', [50]],
}

/** Reads the answer to `feeHistoryCall` into a suggestion. */
export function readFees(answer: RpcAnswer | undefined): Fees | Unavailable {
  const read = readAnswer(answer, historySchema)
  if ('status' in read) return read
  const { baseFeePerGas, reward } = read.value
  // The last entry is the block that comes next (EIP-1474 calls it the one after the newest).
  const base = baseFeePerGas.at(-1) ?? 0n
  return suggest(base, suggestTip((reward ?? []).map(([median]) => median ?? 0n)))
}

/** Room for the base fee to double, and the tip. */
export function suggest(baseFeePerGas: bigint, tip: bigint): Fees {
  return { baseFeePerGas, maxPriorityFeePerGas: tip, maxFeePerGas: 2n * baseFeePerGas + tip }
}

/** The lower median of each fee: of two the lower one, so that no single endpoint can raise them. */
export function medianFees(all: readonly Fees[]): Fees | undefined {
  const base = lowerMedian(all.map(({ baseFeePerGas }) => baseFeePerGas))
  const tip = lowerMedian(all.map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas))
  return base === undefined || tip === undefined ? undefined : suggest(base, tip)
}

/** The middle of them; of an even number the lower one of the two. */
export function lowerMedian(values: readonly bigint[]): bigint | undefined {
  return inOrder(values)[Math.floor((values.length - 1) / 2)]
}

/** The middle of them; of an even number the higher one of the two. */
export function upperMedian(values: readonly bigint[]): bigint | undefined {
  return inOrder(values)[Math.floor(values.length / 2)]
}

function inOrder(values: readonly bigint[]): bigint[] {
  return values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/**
 * The middle of what blocks took. An empty one reports zero and has room for whoever pays the least, so a
 * stranger's tip on a quiet chain says nothing of what is needed.
 */
function suggestTip(medians: readonly bigint[]): bigint {
  const middle = lowerMedian(medians) ?? 0n
  return middle > tipMinimum ? middle : tipMinimum
}
