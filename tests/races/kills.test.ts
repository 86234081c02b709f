import { beforeAll, test } from 'vitest'
import { type CapRace, openCapRace, raceForCap } from '../support/cap-race.ts'
import { excerptOf, inForm } from '../support/cases.ts'
import { seeded } from '../support/seed.ts'

const timeoutMilliseconds = 120_000

let race: CapRace
beforeAll(async () => {
  race = await openCapRace()
})

test.each(excerptOf(['account', 'month', 'app'] as const, 1))(
  'payments over dying isolates never pass a cap, and leave all of it usable (%s)',
  (holder) => raceForCap(race, seeded(), { holder, payments: inForm(60, 250) }),
  timeoutMilliseconds,
)
