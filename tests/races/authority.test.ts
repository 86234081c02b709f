/** Whatever is done in an account in whatever order: nobody may more than its owner gave. */
import { expect, test } from 'vitest'
import { runHistories } from '../support/authority/histories.ts'
import { seedOf } from '../support/model/seed.ts'

const histories = 15

test('in random histories nobody may more than follows from the acts of the owner', async () => {
  const ran = await runHistories(histories, seedOf('authority'))

  expect(ran.histories).toBe(histories)
})
