/** A thief with a key and a merchant takes at most the exposure that the account reported. */
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { diceOf } from '../support/model/dice.ts'
import { seed } from '../support/seed.ts'
import { lineOfTaken, searchThief } from '../support/thief/search.ts'

test('no strategy takes more than the exposure that was told before', {
  timeout: 300_000,
}, async () => {
  const { over, best } = await searchThief(diceOf(seed), inForm(8, 20), () => undefined)

  expect(over.map(lineOfTaken)).toEqual([])
  expect(best.share).toBeGreaterThan(0.5)
})
