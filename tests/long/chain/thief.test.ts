/** No strategy of a thief takes more than the exposure; the best one that a search finds takes it all. */
import { expect, test } from 'vitest'
import { diceOf } from '../../support/model/dice.ts'
import { seed } from '../../support/seed.ts'
import { lineOfTaken, searchThief } from '../../support/thief/search.ts'

const strategies = Number(process.env['PLAY_STRATEGIES'] ?? 10_000)
const toldEvery = 200

test('the most that a thief takes is what exposure says', { timeout: 36_000_000 }, async () => {
  const { over, best } = await searchThief(
    diceOf(seed),
    strategies,
    ({ tried, best: { share } }) => {
      if (tried % toldEvery === 0) process.stdout.write(`${tried} strategies: ${share}\n`)
    },
  )

  expect(over.map(lineOfTaken)).toEqual([])
  expect(best.share).toBeGreaterThanOrEqual(0.95)
})
