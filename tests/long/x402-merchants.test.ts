/** A worker that is struck at any step, paying a merchant that does anything: every pair there is. */
import { expect, test } from 'vitest'
import { behavioursOf, endEvenly, strikesAtExecution } from '../support/faults/attempts.ts'
import { openMarket } from '../support/market.ts'

const market = await openMarket({ deadlineMaxMilliseconds: 1_000 })
const strikes = await strikesAtExecution(market)

test.each(behavioursOf(market))('%s: no attempt is debited twice, and each ends', async (path) => {
  expect(strikes.length).toBeGreaterThanOrEqual(3 * 7)
  await endEvenly(
    market,
    strikes.map((strike) => ({ path, strike })),
  )
})
