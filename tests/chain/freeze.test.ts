/** A freeze among payments in flight, on every rail, lets nothing leave but what its answer named. */
import { expect, test } from 'vitest'
import { freezeInFlight } from '../support/play/in-flight.ts'
import { firstSeed } from '../support/play/seeds.ts'

test('after a freeze nothing leaves but what its answer named, whatever is held or replaced', {
  timeout: 120_000,
}, async () => {
  expect(await freezeInFlight(firstSeed(), 40)).toBeUndefined()
})
