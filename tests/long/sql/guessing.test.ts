import { expect, test } from 'vitest'
import { attack } from '../../support/guessing.ts'
import { start } from '../../support/world.ts'

const { db } = await start()
/** Maximum of guesses for one address in a day; they hit one of a million codes with probability 50e-6. */
const comparedMax = 50

test('an address is guessed at 50 times a day at most, and won no more often than that', async () => {
  const codes = 500
  const result = await attack(db, { addresses: 200, codes, guessesAnHour: 6, seed: 1 })

  expect(result.most).toBe(comparedMax)
  expect(result.compared).toBeLessThanOrEqual(comparedMax * result.addresses)
  const expected = (comparedMax / codes) * result.addresses
  // The number is nearly Poisson: within four standard deviations. The lower bound proves real attempts.
  expect(result.won).toBeLessThan(expected + 4 * Math.sqrt(expected))
  expect(result.won).toBeGreaterThan(expected - 4 * Math.sqrt(expected))
})

test('a million guesses win no more than 50 in a million for each address and day', async () => {
  const plan = { addresses: 20_000, codes: 1_000_000, guessesAnHour: 13, seed: 1 }

  const result = await attack(db, plan)

  expect(result.guesses).toBeGreaterThanOrEqual(1_000_000)
  expect(result.most).toBe(50)
  // 20,000 times 5e-5: one is expected, and more than six occur once in ten thousand runs.
  expect(result.won).toBeLessThanOrEqual(6)
}, 3_600_000)
