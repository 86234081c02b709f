import { expect, test } from 'vitest'
import { attack } from '../support/guessing.ts'
import { start } from '../support/world.ts'

const { db } = await start()

test('a million guesses win no more than 50 in a million for each address and day', async () => {
  const plan = { addresses: 20_000, codes: 1_000_000, guessesAnHour: 13, seed: 1 }

  const result = await attack(db, plan)

  expect(result.guesses).toBeGreaterThanOrEqual(1_000_000)
  expect(result.most).toBe(50)
  // 20,000 times 5e-5: one is expected, and more than six occur once in ten thousand runs.
  expect(result.won).toBeLessThanOrEqual(6)
}, 3_600_000)
