/**
 * Caps the price of gas, so that a relayed call costs no more than the amount in US dollars that the
 * operator configures. Custody checks the cap for everything that it signs. Code that suggests fees stays
 * below it, whatever endpoints report.
 */
import type { Config } from '../../../env.ts'
import { parseAmount, usdDecimals } from '../../../money/amount.ts'
import type { Chain } from '../../chain.ts'
import type { Fees } from './fees.ts'
import { relayGas } from './fees.ts'

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
