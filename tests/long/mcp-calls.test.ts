import { expect, test } from 'vitest'
import { callAtOnce, toolsIn } from '../support/mcp.ts'
import { start } from '../support/world.ts'

test('of 1,000 calls at once of 50 accounts with colliding ids, no answer is crossed', async () => {
  const world = await start()

  const crossed = await callAtOnce(world, toolsIn(world.world), { calls: 1000, inFlight: 200 })

  expect(crossed).toEqual([])
})
