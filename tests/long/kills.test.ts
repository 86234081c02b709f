import { beforeAll, test } from 'vitest'
import { type CapRace, openCapRace, raceForCap } from '../support/cap-race.ts'
import { seeded } from '../support/seed.ts'

const runs = 100
const timeoutMilliseconds = 7_200_000

let race: CapRace
beforeAll(async () => {
  race = await openCapRace()
})

test(
  `in ${runs} of ${runs} runs 1,000 payments over 8 dying isolates never pass a cap`,
  async () => {
    const random = seeded()
    for (let run = 1; run <= runs; run += 1) {
      const holder = run % 2 === 0 ? 'app' : 'account'
      await raceForCap(race, random, { holder, payments: 1_000 })
      console.log(`run ${run} of ${runs}: the cap held, ${race.fleet.deaths()} isolates have died`)
    }
  },
  timeoutMilliseconds,
)
