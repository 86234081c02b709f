/**
 * The most that a unit of gas may cost, so that bringing one call to the chain stays within what the
 * operator sets in US dollars. Custody checks it for everything that it signs; whoever asks for fees
 * stays below it, whatever endpoints say.
 */
import type { Config } from '../../env.ts'
import { parseAmount, usdDecimals } from '../../money/amount.ts'
import type { Chain } from '../chain.ts'
import type { Fees } from './fees.ts'
import { relayGas } from './fees.ts'

/** What a budget is computed from. */
export type GasConfig = Pick<Config, 'gasUsdMax' | 'nativeUsdRates'>

/** Fees within the budget; `isOverBudget` where no block would take them now. */
export type BudgetedFees = Fees & { isOverBudget: boolean }

const weiPerCoin = 10n ** 18n

/**
 * Wei per gas. The limits of gas for several calls are no more than so many times that for one, so a
 * batch costs at most this for each of them.
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

/** So much more may a unit of gas cost where nothing is moved by it, and something is stopped. */
const stoppingFactor = 4n

/** The same for a transaction that cancels authorizations, or only uses its place up. */
export function stoppingMaxFeePerGasOf(
  chain: Pick<Chain, 'id' | 'caip2' | 'native'>,
  config: GasConfig,
): bigint {
  return stoppingFactor * maxFeePerGasOf(chain, config)
}

/** As much as was suggested, and no more than the ceiling. */
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
