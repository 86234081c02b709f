/**
 * What a token amount counts for against limits that are kept in US dollars. It is rounded up, so
 * that no limit is passed by a fraction; it is no market price and nothing is settled by it.
 */
import type { Config } from '../env.ts'
import { parseAmount, usdDecimals } from './amount.ts'

/** Limits are kept in bigint columns: this much or more is no payment that any of them lets through. */
export const usdMicrosEnd = 2n ** 62n

type Priced = { symbol: string; decimals: number }

/** Micro-USD of an amount of a stablecoin; undefined when its rate is not configured. */
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
