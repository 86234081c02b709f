/** In any order of acts in an account, nobody can do more than its owner allowed. */
import { expect, test } from 'vitest'
import { runHistories } from '../support/authority/histories.ts'
import { seedOf } from '../support/model/seed.ts'

const histories = 8

test('in random histories nobody may more than follows from the acts of the owner', async () => {
  const ran = await runHistories(histories, seedOf('authority'))

  expect(ran.histories).toBe(histories)
})
