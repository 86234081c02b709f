/** In any order of sign-ins, proofs and acts, nobody widens without a fresh proof, and a hold keeps what was there. */
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { diceOf } from '../support/model/dice.ts'
import { seed } from '../support/seed.ts'
import { walk } from '../support/walk/walk.ts'

const steps = inForm(400, 2_000)

test('in a random walk no session widens without a proof or in a hold, and a hold ends nothing', {
  timeout: inForm(120_000, 600_000),
}, async () => {
  expect(await walk(steps, diceOf(seed))).toEqual([])
})
