/** No strategy of a thief, among many that a search tries, exceeds its row of the table. */
import { expect, test } from 'vitest'
import { diceOf } from '../support/model/dice.ts'
import { openTown } from '../support/robbery/home.ts'
import { searchTable } from '../support/robbery/search.ts'
import { seed } from '../support/seed.ts'

const strategies = Number(process.env['PLAY_STRATEGIES'] ?? 10_000)
const toldEvery = 100

test('whatever was stolen, no strategy comes beyond its row, and nothing of it is left afterwards', {
  timeout: 36_000_000,
}, async () => {
  const town = await openTown()
  const dice = diceOf(seed)

  const { tried } = await searchTable(town, dice, strategies, ({ share, lockedOut, ...now }) => {
    if (now.tried % toldEvery > 0) return
    const seen = [...now.effects].map(([row, effects]) => `${row}: ${[...effects].join(', ')}`)
    process.stdout.write(
      `${now.tried} strategies, ${share} of what was stated, ${lockedOut} locked out\n${seen.join('\n')}\n`,
    )
  })

  expect(tried).toBe(strategies)
})
