/** A thief reaches at most its row of the table, and "it was not me" leaves nothing of it. */
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { diceOf } from '../support/model/dice.ts'
import { openTown } from '../support/robbery/home.ts'
import { searchTable } from '../support/robbery/search.ts'
import { seed } from '../support/seed.ts'

const strategies = inForm(4, 14)

test('no thief comes beyond its row of the table, and "it was not me" leaves nothing of it', async () => {
  const town = await openTown()

  const { tried } = await searchTable(town, diceOf(seed), strategies)

  expect(tried).toBe(strategies)
})
