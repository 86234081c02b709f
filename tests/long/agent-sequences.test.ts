import { expect, test } from 'vitest'
import { seed } from '../support/seed.ts'
import { runSequences } from '../support/sequences/run.ts'
import { openStreets } from '../support/sequences/street.ts'

const streets = await openStreets(8)
const sequences = 500

test.each([
  ['by 10,000 sequences of calls no agent moves what its limits do not carry', 20, false],
  ['by 5,000 more an agent moves what its owner said, and nothing more', 10, true],
])('%s', { timeout: 7_200_000 }, async (_, parts, isOwnerThere) => {
  let [done, calls, payments] = [0, 0, 0]
  const started = performance.now()

  for (let part = 0; part < parts; part += 1) {
    const ran = await runSequences(streets, { sequences, seed: seed + part, isOwnerThere })
    done += ran.sequences
    calls += ran.calls
    payments += ran.payments
    const seconds = Math.round((performance.now() - started) / 1000)
    process.stdout.write(`${done} sequences, ${calls} calls, ${payments} paid in ${seconds} s\n`)
  }

  expect(done).toBe(parts * sequences)
})
