/** Written thefts of a secret fail; `npm run test:long` tries each of them at each kind of honest site. */
import { expect, test } from 'vitest'
import { excerptOf } from '../support/cases.ts'
import { start } from '../support/world.ts'
import { attempts, expectNothingTold } from '../support/written-thefts.ts'

const world = await start()

test.each(excerptOf(attempts, 18))('at $kind.name, $name tell nothing', (attempt) =>
  expectNothingTold(world, attempt),
)

test('the sites are sixty, and each of four thefts is tried at each', () => {
  expect(attempts).toHaveLength(240)
  expect(new Set(attempts.map(({ kind }) => kind.name)).size).toBe(60)
})
