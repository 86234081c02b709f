/**
 * The most that one mandate can move over its life, for an account that spent nothing else in the day
 * before. Pure. Other mandates and limits come on top, below the daily cap.
 */
import type { MandateTerms } from './mandate.ts'

/** Limit that keeps the figure from being larger. */
export type WorstCaseBound =
  | 'max_amount_per_payment'
  | 'max_amount_per_day'
  | 'max_total'
  | 'max_payments'
  | 'expiry'
  | 'daily_spending_cap'

/** A maximum in micro-USD and what sets it. */
export type WorstCase = { usdMicros: bigint; boundBy: WorstCaseBound[] }

const dayMilliseconds = 86_400_000

/**
 * Returns the maximum from now until the expiry. No 24 hours hold more than the day's cap, and payments a
 * day apart fill each day; if payments are counted, the largest come first. So the figure is exact.
 */
export function worstCase(
  terms: Pick<
    MandateTerms,
    'maxPaymentUsdMicros' | 'maxDayUsdMicros' | 'maxTotalUsdMicros' | 'maxPayments' | 'expiresAt'
  >,
  { dailySpendingCapUsdMicros, now }: { dailySpendingCapUsdMicros: bigint; now: Date },
): WorstCase {
  const { maxPaymentUsdMicros, maxDayUsdMicros, maxTotalUsdMicros, maxPayments } = terms
  const life = terms.expiresAt.getTime() - now.getTime()
  const days = BigInt(Math.max(0, Math.ceil(life / dayMilliseconds)))
  const isOwnDay = maxDayUsdMicros !== null && maxDayUsdMicros <= dailySpendingCapUsdMicros
  const perDay = isOwnDay ? maxDayUsdMicros : dailySpendingCapUsdMicros
  const dayBound: WorstCaseBound = isOwnDay ? 'max_amount_per_day' : 'daily_spending_cap'
  const byDays = days * perDay
  const byCount =
    maxPayments === null
      ? byDays
      : countedMost({
          payments: BigInt(maxPayments),
          perPayment: maxPaymentUsdMicros,
          perDay,
          days,
        })
  if (maxTotalUsdMicros !== null && maxTotalUsdMicros <= byCount) {
    return { usdMicros: maxTotalUsdMicros, boundBy: ['max_total'] }
  }
  if (byCount === byDays) return { usdMicros: byDays, boundBy: [dayBound, 'expiry'] }
  const each = perDay < maxPaymentUsdMicros ? dayBound : 'max_amount_per_payment'
  return { usdMicros: byCount, boundBy: [each, 'max_payments'] }
}

type Counted = { payments: bigint; perPayment: bigint; perDay: bigint; days: bigint }

/** Counts as many full-size payments as the days hold, then one for the rest of each day. */
function countedMost({ payments, perPayment, perDay, days }: Counted): bigint {
  const full = min(payments, days * (perDay / perPayment))
  const rest = min(payments - full, days)
  return full * perPayment + rest * (perDay % perPayment)
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
