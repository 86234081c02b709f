import { beforeAll, test } from 'vitest'
import type { CapRace } from '../support/cap-race.ts'
import { openCapRace, raceForCap } from '../support/cap-race.ts'
import { seeded } from '../support/seed.ts'

const timeoutMilliseconds = 120_000

let race: CapRace
beforeAll(async () => {
  race = await openCapRace()
})

test.each([
  [1, 'account'],
  [2, 'account'],
  [3, 'account'],
  [4, 'app'],
  [5, 'app'],
] as const)(
  '1,000 payments over 8 dying isolates never pass a cap, and leave all of it usable (run %i, %s)',
  (_, holder) => raceForCap(race, seeded(), holder),
  timeoutMilliseconds,
)
