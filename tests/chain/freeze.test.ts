/** A freeze among payments in flight, on every rail, lets nothing leave but what its answer named. */
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { freezeInFlight } from '../support/play/in-flight.ts'
import { seed } from '../support/seed.ts'

test('after a freeze nothing leaves but what its answer named, whatever is held or replaced', {
  timeout: 120_000,
}, async () => {
  expect(await freezeInFlight(seed, inForm(16, 40))).toBeUndefined()
})
