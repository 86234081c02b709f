import { expect, test } from 'vitest'
import { deliverBroken } from '../support/mail-corpus/broken-deliveries.ts'
import { start } from '../support/world.ts'

const product = await start()

test('of 5,000 broken messages each is kept in full or refused with a reason', async () => {
  const { kept, refused } = await deliverBroken(product, 5_000)

  expect(Math.min(kept, refused)).toBeGreaterThan(300)
  expect(product.log).toEqual([])
}, 600_000)
