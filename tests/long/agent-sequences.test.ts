import { expect, test } from 'vitest'
import { seedOf } from '../support/model/seed.ts'
import { runSequences } from '../support/sequences/run.ts'
import { openStreet } from '../support/sequences/street.ts'

const street = await openStreet()

test.each([
  ['by 10,000 sequences of calls no agent moves what its limits do not carry', 10_000, false],
  ['by 5,000 more an agent moves what its owner said, and nothing more', 5_000, true],
])('%s', { timeout: 7_200_000 }, async (_, sequences, isOwnerThere) => {
  const seed = seedOf('agents')
  const started = performance.now()

  const ran = await runSequences(street, { sequences, seed, isOwnerThere })

  const seconds = Math.round((performance.now() - started) / 1000)
  process.stdout.write(`${JSON.stringify(ran)} in ${seconds} s\n`)
  expect(ran.sequences).toBe(sequences)
})
