/**
 * A worker that dies at any step and a merchant that misbehaves in any way lead to no double debit. The
 * tests sample all pairs.
 */
import { beforeAll, expect, test } from 'vitest'
import {
  behavioursOf,
  endEvenly,
  strikesAtExecution,
  type Trial,
} from '../support/faults/attempts.ts'
import { type Market, openMarket } from '../support/market.ts'

let market: Market
let trials: Trial[]
beforeAll(async () => {
  market = await openMarket()
  const paths = behavioursOf(market)
  const strikes = await strikesAtExecution(market)
  trials = Array.from({ length: 66 }, (_, at) => ({
    path: paths[at % paths.length] ?? '',
    strike: strikes[at % strikes.length] ?? { fault: 'dies', at: 0 },
  }))
})

test('merchants misbehave in at least 25 ways, and workers at each of their requests', () => {
  const faults = trials.map(({ strike }) => `${strike.fault} ${strike.at}`)

  expect(new Set(trials.map(({ path }) => path)).size).toBeGreaterThanOrEqual(25)
  expect(new Set(faults).size).toBeGreaterThanOrEqual(3 * 5)
})

test('no attempt is debited twice, each ends, and reservations are what can still settle', async () => {
  await endEvenly(market, trials)
}, 120_000)
