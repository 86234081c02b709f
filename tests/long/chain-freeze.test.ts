/** A freeze between hundreds of payments that are on their way, on every rail, with blocks replaced. */
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
