import type { Config } from '../../../shared/env.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'

/** Token on one chain. */
export type Asset = { chain: number; token: { address: string; symbol: string; decimals: number } }
/** Amount of a token that the wallet holds now. */
export type Held = Asset & { atomic: bigint }
/** Amount by which one token grew or shrank on one day. */
export type Moved = { day: string; chain: number; token: string; atomic: bigint }

/**
 * Computes the value of the wallet at the end of each day from what it holds now and what moved since, in
 * micro-dollars. It uses today's rate for all days: the line shows transfers, not exchange rates.
 */
export function balanceHistory(
  days: readonly string[],
  held: readonly Held[],
  moved: readonly Moved[],
  config: Config,
): bigint[] {
  return days.map((day) =>
    held.reduce((total, { chain, token, atomic }) => {
      const since = moved.filter(
        (one) =>
          one.day > day &&
          one.chain === chain &&
          one.token.toLowerCase() === token.address.toLowerCase(),
      )
      const then = since.reduce((rest, one) => rest - one.atomic, atomic)
      // Deposits from before the index of deposits are unknown, so a balance can come out below zero.
      return total + (usdMicrosOf(token, then > 0n ? then : 0n, config) ?? 0n)
    }, 0n),
  )
}

/** Returns the UTC days up to and including that of `now`, the oldest first. */
export function daysUpTo(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const day = new Date(now.getTime() - (count - 1 - at) * 86_400_000)
    return day.toISOString().slice(0, 10)
  })
}
