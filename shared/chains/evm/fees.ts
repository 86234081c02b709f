/**
 * What a transaction may cost. Suggestions follow EIP-1559: room for the base fee to double, plus a
 * tip that recent blocks took. Pure arithmetic over one eth_feeHistory answer; all amounts in wei.
 */
import * as z from 'zod'
import { quantitySchema } from '../hex.ts'
import type { RpcAnswer, RpcCall, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'

/**
 * Gas limit of a relayer's transaction with so many calls. Circle's token takes 102,886 for one
 * transferWithAuthorization to a fresh payee and 73,725 for each of 25 in a batch. Fixed, so that a
 * node's estimate cannot change what is signed.
 */
export function relayGas(chainId: number, calls: number): bigint {
  const execution = calls < 2 ? 160_000n : 60_000n + 110_000n * BigInt(calls)
  return nitroChainIds.has(chainId) ? 4n * execution : execution
}

/** Nitro chains charge for posting calldata in units of gas; what is not used is not paid. */
const nitroChainIds = new Set([42161, 421614])
/** Gas limit of one plain ERC-20 transfer; Circle's token takes 62,255 for a fresh payee. */
export const directTransferGas = 90_000n

/** Fees per gas, in wei. */
export type Fees = { baseFeePerGas: bigint; maxPriorityFeePerGas: bigint; maxFeePerGas: bigint }

const historyBlocks = 5
const tipMinimum = 1_000_000n
/** A node that claims more is broken or lying, and believing it would empty a relayer. */
export const maxFeePerGasCeiling = 10_000_000_000_000n

const historySchema = z.object({
  baseFeePerGas: z
    .array(quantitySchema)
    .min(1)
    .max(historyBlocks + 1),
  reward: z.array(z.array(quantitySchema).min(1)).max(historyBlocks).nullish(),
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
  const tip = suggestTip((reward ?? []).map(([median]) => median ?? 0n))
  const maxFeePerGas = 2n * base + tip
  if (maxFeePerGas > maxFeePerGasCeiling) return unavailable('the fees are beyond belief')
  return { baseFeePerGas: base, maxPriorityFeePerGas: tip, maxFeePerGas }
}

/** The middle of what blocks with traffic took; empty blocks report zero and say nothing. */
function suggestTip(medians: bigint[]): bigint {
  const paid = medians.filter((tip) => tip > 0n).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const middle = paid[Math.floor(paid.length / 2)] ?? 0n
  return middle > tipMinimum ? middle : tipMinimum
}
