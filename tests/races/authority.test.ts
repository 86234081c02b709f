/** In any order of acts in an account, nobody can do more than its owner allowed. */
import { expect, test } from 'vitest'
import { runHistories } from '../support/authority/histories.ts'
import { inForm } from '../support/cases.ts'
import { seed } from '../support/seed.ts'

const histories = inForm(2, 8)

test('in random histories nobody may more than follows from the acts of the owner', async () => {
  const ran = await runHistories(histories, seed)

  expect(ran.histories).toBe(histories)
})
