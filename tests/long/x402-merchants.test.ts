/** For every pair of a worker's fault and a merchant's misbehaviour, no attempt is debited twice. */
import { expect, test } from 'vitest'
import { behavioursOf, endEvenly, strikesAtExecution } from '../support/faults/attempts.ts'
import { openMarket } from '../support/market.ts'

const market = await openMarket()
const strikes = await strikesAtExecution(market)

test.each(behavioursOf(market))('%s: no attempt is debited twice, and each ends', async (path) => {
  expect(strikes.length).toBeGreaterThanOrEqual(3 * 7)
  await endEvenly(
    market,
    strikes.map((strike) => ({ path, strike })),
  )
})
