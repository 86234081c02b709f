import type { Config } from '../../../shared/env.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'

export type Asset = { chain: number; token: { address: string; symbol: string; decimals: number } }
/** What the wallet holds now, and by how much it grew or shrank on one day. */
export type Held = Asset & { atomic: bigint }
export type Moved = { day: string; chain: number; token: string; atomic: bigint }

/**
 * What the wallet was worth at the end of each day, from what it holds now and what moved since. The
 * rate is today's throughout: the line shows what came and went, not what a currency did.
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
      // What came in before deposits were watched is not known, so a balance may seem below nothing.
      return total + (usdMicrosOf(token, then > 0n ? then : 0n, config) ?? 0n)
    }, 0n),
  )
}

/** The days of UTC up to and with the one of `now`, the oldest first. */
export function daysUpTo(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const day = new Date(now.getTime() - (count - 1 - at) * 86_400_000)
    return day.toISOString().slice(0, 10)
  })
}
