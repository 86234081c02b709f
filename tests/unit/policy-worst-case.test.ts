import fc from 'fast-check'
import { expect, test } from 'vitest'
import { worstCase } from '../../shared/policy/worst-case.ts'
import { mandate, noon, usd } from '../support/policy.ts'

const halfDay = 43_200_000
const ticksMax = 5

type Story = {
  maxPaymentUsdMicros: bigint
  maxDayUsdMicros: bigint | null
  maxTotalUsdMicros: bigint | null
  maxPayments: number | null
  dailySpendingCapUsdMicros: bigint
  ticks: number
}
const few = fc.bigInt({ min: 1n, max: 5n })
const story: fc.Arbitrary<Story> = fc.record({
  maxPaymentUsdMicros: few,
  maxDayUsdMicros: fc.option(few, { freq: 3 }),
  maxTotalUsdMicros: fc.option(fc.bigInt({ min: 1n, max: 12n }), { freq: 2 }),
  maxPayments: fc.option(fc.integer({ min: 1, max: 6 }), { freq: 2 }),
  dailySpendingCapUsdMicros: fc.bigInt({ min: 0n, max: 5n }),
  ticks: fc.integer({ min: 0, max: ticksMax }),
})

/** Tries every distribution of whole units over half days, each in as few payments as possible. */
function most(given: Story, spent: number[] = []): number {
  const at = spent.length
  const total = spent.reduce((sum, one) => sum + one, 0)
  if (at === given.ticks) return total
  const each = Number(given.maxPaymentUsdMicros)
  const payments = spent.reduce((sum, one) => sum + Math.ceil(one / each), 0)
  let best = total
  for (let more = 0; more <= 5; more += 1) {
    const today = (spent.at(-1) ?? 0) + more
    const isWithin =
      today <= Number(given.maxDayUsdMicros ?? 99) &&
      today <= Number(given.dailySpendingCapUsdMicros) &&
      total + more <= Number(given.maxTotalUsdMicros ?? 99) &&
      payments + Math.ceil(more / each) <= (given.maxPayments ?? 99)
    if (isWithin) best = Math.max(best, most(given, [...spent, more]))
  }
  return best
}

test('is the most that any way to spread the payments comes to', () => {
  fc.assert(
    fc.property(story, ({ dailySpendingCapUsdMicros, ticks, ...terms }) => {
      const expiresAt = new Date(noon.getTime() + ticks * halfDay)
      const caps = { dailySpendingCapUsdMicros, now: noon }
      const { usdMicros } = worstCase({ ...terms, expiresAt }, caps)
      expect(Number(usdMicros)).toBe(most({ ...terms, dailySpendingCapUsdMicros, ticks }))
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['its total', {}, usd(100), ['max_total']],
  [
    'its day',
    { maxTotalUsdMicros: null, maxPayments: null },
    usd(600),
    ['max_amount_per_day', 'expiry'],
  ],
  ['its count', { maxTotalUsdMicros: null }, usd(250), ['max_amount_per_payment', 'max_payments']],
  [
    'the cap of the account',
    { maxTotalUsdMicros: null, maxPayments: null, maxDayUsdMicros: null },
    usd(30_000),
    ['daily_spending_cap', 'expiry'],
  ],
  ['its end', { expiresAt: noon }, 0n, ['max_amount_per_day', 'expiry']],
])('a mandate for 30 days is bound by %s', (_name, given, usdMicros, boundBy) => {
  const caps = { dailySpendingCapUsdMicros: usd(1000), now: noon }
  expect(worstCase({ ...mandate, ...given }, caps)).toEqual({ usdMicros, boundBy })
})
