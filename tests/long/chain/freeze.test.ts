/**
 * After a freeze among hundreds of payments in flight, on every rail and with replaced blocks, nothing
 * leaves but what its answer named.
 */
import { expect, test } from 'vitest'
import { freezeInFlight } from '../../support/play/in-flight.ts'
import { seed } from '../../support/seed.ts'

const payments = 500
test.each([seed, seed + 1, seed + 2])(
  'after a freeze nothing leaves but what its answer named: SEED=%i',
  { timeout: 3_600_000 },
  async (one) => {
    expect(await freezeInFlight(one, payments)).toBeUndefined()
  },
)
