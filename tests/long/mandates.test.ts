import { expect, test } from 'vitest'
import { openMandateRace, raceForMandate, roomForAHundred } from '../support/mandate-race.ts'

const race = await openMandateRace()
const runs = 20

test.each(roomForAHundred)('%j: exactly 100 of 200 at once, 20 runs of 20', async (order) => {
  let held = 0

  for (; held < runs; held += 1) await raceForMandate(race, order)

  expect(held).toBe(runs)
})
