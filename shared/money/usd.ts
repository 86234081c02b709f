/**
 * Value of a token amount for limits in US dollars. It is rounded up, so that no limit is exceeded by a
 * fraction. It is not a market price, and nothing is settled with it.
 */
import type { Config } from '../env.ts'
import { parseAmount, usdDecimals } from './amount.ts'

/** Exclusive upper bound: limits are bigint columns, which cannot allow a payment of this much. */
export const usdMicrosEnd = 2n ** 62n

type Priced = { symbol: string; decimals: number }

/** Returns the micro-USD of a stablecoin amount; undefined if its rate is not configured. */
export function usdMicrosOf(
  token: Priced,
  amountAtomic: bigint,
  config: Pick<Config, 'EUR_USD_RATE'>,
): bigint | undefined {
  const rateMicros = usdMicrosPerUnit(token.symbol, config)
  if (rateMicros === undefined) return undefined
  const unit = 10n ** BigInt(token.decimals)
  return (amountAtomic * rateMicros + unit - 1n) / unit
}

function usdMicrosPerUnit(symbol: string, config: Pick<Config, 'EUR_USD_RATE'>) {
  if (symbol === 'USDC') return 10n ** BigInt(usdDecimals)
  if (symbol !== 'EURC' || config.EUR_USD_RATE === undefined) return undefined
  return parseAmount(config.EUR_USD_RATE, usdDecimals)
}
