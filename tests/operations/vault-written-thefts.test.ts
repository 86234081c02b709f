/** Written thefts of a secret fail: each kind of honest site meets one of four; tests/long tries all 240. */
import { expect, test } from 'vitest'
import { start } from '../support/world.ts'
import { attempts, expectNothingTold } from '../support/written-thefts.ts'

const world = await start()
const cases = attempts.filter((_, at) => at % 4 === Math.floor(at / 4) % 4)

test.each(cases)('at $kind.name, $name tell nothing', (attempt) =>
  expectNothingTold(world, attempt),
)

test('the sites are sixty, and each theft is tried at a quarter of them', () => {
  expect(attempts).toHaveLength(240)
  expect(new Set(cases.map(({ kind }) => kind.name)).size).toBe(60)
  expect(Object.values(Object.groupBy(cases, ({ name }) => name)).map((of) => of?.length)).toEqual([
    15, 15, 15, 15,
  ])
})
