/** A thief reaches at most its row of the table, and "it was not me" leaves nothing of it. */
import { expect, test } from 'vitest'
import { diceOf } from '../support/model/dice.ts'
import { seedOf } from '../support/model/seed.ts'
import { openTown } from '../support/robbery/home.ts'
import { searchTable } from '../support/robbery/search.ts'

const strategies = 14

test('no thief comes beyond its row of the table, and "it was not me" leaves nothing of it', async () => {
  const town = await openTown()

  const { tried } = await searchTable(town, diceOf(seedOf('thieves')), strategies)

  expect(tried).toBe(strategies)
})
