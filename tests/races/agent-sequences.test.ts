import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { seed } from '../support/seed.ts'
import { runSequences } from '../support/sequences/run.ts'
import { openStreets } from '../support/sequences/street.ts'

const streets = await openStreets(5)
const sequences = inForm(5, 15)

test.each([
  ['no agent moves anything that its limits do not carry, whatever it calls and says', false],
  ["beside the owner's own words an agent moves what they are for, and nothing more", true],
])('%s', { timeout: 300_000 }, async (_, isOwnerThere) => {
  const ran = await runSequences(streets, { sequences, seed, isOwnerThere })

  expect(ran.sequences).toBeGreaterThanOrEqual(sequences)
  expect(ran.payments).toBeGreaterThan(sequences / 2)
})
