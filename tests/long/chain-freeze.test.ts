/**
 * After a freeze among hundreds of payments in flight, on every rail and with replaced blocks, nothing
 * leaves but what its answer named.
 */
import { expect, test } from 'vitest'
import { freezeInFlight } from '../support/play/in-flight.ts'
import { firstSeed } from '../support/play/seeds.ts'

const payments = 500
const first = firstSeed()

test.each([first, first + 1, first + 2])(
  'after a freeze nothing leaves but what its answer named: PLAY_SEED=%i',
  { timeout: 3_600_000 },
  async (seed) => {
    expect(await freezeInFlight(seed, payments)).toBeUndefined()
  },
)
