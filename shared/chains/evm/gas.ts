/**
 * Suggests transaction fees after EIP-1559: room for the base fee to double, plus the tip that recent
 * blocks took. The median over the endpoints counts. All amounts are in wei.
 */
import { encodeFunctionData } from 'viem/utils'
import * as z from 'zod'
import type { Config } from '../../env.ts'
import { parseAmount, usdDecimals } from '../../money/amount.ts'
import type { Chain } from '../chain.ts'
import { quantitySchema } from '../hex.ts'
import { listOf } from '../registry.ts'
import { rollupAbi } from './abi.ts'
import { type RpcAnswer, type RpcCall, readRpcAnswer, type Unavailable } from './rpc/endpoints.ts'
import type { InnerCall } from './rpc/multicall.ts'
import { gasPriceOracleAddress } from './rpc/places.ts'

/**
 * Returns the gas limit of a gas payer's transaction with this number of calls. Circle's token takes 102,886 for
 * one transferWithAuthorization to a fresh payee and 73,725 for each of 25 in a batch; 21,000 suffice for
 * no call. The limit is fixed, so that a node's estimate cannot change what is signed.
 */
export function relayGas(chainId: number, calls: number): bigint {
  const several = 60_000n + 110_000n * BigInt(calls)
  const execution = calls === 0 ? 40_000n : calls === 1 ? 160_000n : several
  return nitroChainIds.has(chainId) ? 4n * execution : execution
}

/** Nitro chains, which charge for posting calldata in units of gas. Unused gas is not paid. */
const nitroChainIds = new Set([42161, 421614])

/** Fees per unit of gas, in wei. */
type Fees = { baseFeePerGas: bigint; maxPriorityFeePerGas: bigint; maxFeePerGas: bigint }

/** Fees, and the most that a rollup charges for the bytes of one call. */
export type GasFees = Fees & { dataFeeWei: bigint }

const historyBlocks = 5
const tipMinimum = 1_000_000n

const hasSome = (list: readonly bigint[]) => list.length > 0

const historySchema = z.object({
  baseFeePerGas: listOf(quantitySchema, historyBlocks + 1).refine(hasSome),
  // One percentile is requested.
  reward: listOf(listOf(quantitySchema, 1).refine(hasSome), historyBlocks).nullish(),
})

/** Call that reads the base fee of the next block and the median tips of the last blocks. */
export const feeHistoryCall: RpcCall = {
  method: 'eth_feeHistory',
  params: [`0x${historyBlocks.toString(16)}`, 'latest', [50]],
}

/** Reads the answer to `feeHistoryCall` into suggested fees. */
export function readFees(answer: RpcAnswer | undefined): Fees | Unavailable {
  const read = readRpcAnswer(answer, historySchema)
  if ('status' in read) return read
  const { baseFeePerGas, reward } = read.value
  // The last entry is the next block (EIP-1474 calls it the one after the newest).
  const base = baseFeePerGas.at(-1) ?? 0n
  return suggest(base, suggestTip((reward ?? []).map(([median]) => median ?? 0n)))
}

/** Returns fees with room for the base fee to double, plus the tip. */
export function suggest(baseFeePerGas: bigint, tip: bigint): Fees {
  return { baseFeePerGas, maxPriorityFeePerGas: tip, maxFeePerGas: 2n * baseFeePerGas + tip }
}

/** Suggests fees from the lower medians, so that one endpoint of two cannot raise them. */
export function medianFees(all: readonly Fees[]): Fees | undefined {
  const base = lowerMedian(all.map(({ baseFeePerGas }) => baseFeePerGas))
  const tip = lowerMedian(all.map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas))
  return base === undefined || tip === undefined ? undefined : suggest(base, tip)
}

/** Returns the median; of an even number of values, the lower one of the middle two. */
export function lowerMedian(values: readonly bigint[]): bigint | undefined {
  return inOrder(values)[Math.floor((values.length - 1) / 2)]
}

/** Returns the median; of an even number of values, the higher one of the middle two. */
export function upperMedian<Value extends number | bigint>(
  values: readonly Value[],
): Value | undefined {
  return inOrder(values)[Math.floor(values.length / 2)]
}

function inOrder<Value extends number | bigint>(values: readonly Value[]): Value[] {
  return values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/**
 * Returns the lower median of the blocks' tips, and at least the minimum. An empty block reports zero and
 * has room for the smallest tip, so a single high tip on a quiet chain does not show what is needed.
 */
function suggestTip(medians: readonly bigint[]): bigint {
  const middle = lowerMedian(medians) ?? 0n
  return middle > tipMinimum ? middle : tipMinimum
}

/** Configuration from which the budget is computed. */
export type GasConfig = Pick<Config, 'gasUsdMax' | 'nativeUsdRates'>

/** Fees within the budget. `isOverBudget`: no block would take them now. */
export type BudgetedFees = Fees & { isOverBudget: boolean }

const weiPerCoin = 10n ** 18n

/**
 * Returns the highest price in wei per gas. The gas limit for n calls is at most n times that for one, so
 * each call of a batch costs at most the budget.
 */
export function maxFeePerGasOf(
  { id, caip2, native }: Pick<Chain, 'id' | 'caip2' | 'native'>,
  { gasUsdMax, nativeUsdRates }: GasConfig,
): bigint {
  const budget = parseAmount(gasUsdMax[caip2] ?? gasUsdMax['*'] ?? '', usdDecimals) ?? 0n
  const rate = parseAmount(nativeUsdRates[native.symbol] ?? '', usdDecimals)
  if (!rate) return 0n
  return (budget * weiPerCoin) / (rate * relayGas(id, 1))
}

/** Factor by which gas may cost more in a transaction that only uses up its nonce, which others wait for. */
const emptyFactor = 4n

/** Returns the cap for a transaction that only uses up its nonce. */
export function emptyMaxFeePerGasOf(
  chain: Pick<Chain, 'id' | 'caip2' | 'native'>,
  config: GasConfig,
): bigint {
  return emptyFactor * maxFeePerGasOf(chain, config)
}

/** Returns the suggested fees, lowered to the ceiling. */
export function withinBudget(fees: Fees, ceiling: bigint): BudgetedFees {
  const { baseFeePerGas, maxPriorityFeePerGas: tip } = fees
  const maxFeePerGas = lesser(fees.maxFeePerGas, ceiling)
  return {
    baseFeePerGas,
    maxFeePerGas,
    maxPriorityFeePerGas: lesser(tip, maxFeePerGas),
    isOverBudget: baseFeePerGas + tip > ceiling,
  }
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

// An unsigned transferWithAuthorization has about 450 bytes; a rollup charges for all of them.
const transactionBytesMax = 600n

/** Inner call that asks the rollup's contract for the most that the bytes of one relayed call cost. */
export const dataFeeCall: InnerCall = {
  target: gasPriceOracleAddress,
  callData: encodeFunctionData({
    abi: rollupAbi,
    functionName: 'getL1FeeUpperBound',
    args: [transactionBytesMax],
  }),
}

/** Reads the answer. Only OP Stack rollups have this contract; on other chains the fee is zero. */
export function readDataFee({ stack }: Chain, word: bigint | undefined): bigint {
  return (stack === 'op' ? word : undefined) ?? 0n
}
