/** In many long ordinary lives nobody is frozen, and the books hold everything that left. */
import { test } from 'vitest'
import { beginPlay, expectNobodyFrozen, play } from '../support/outflow-play.ts'
import { randomOf, seed } from '../support/seed.ts'
import { start } from '../support/world.ts'

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'in long ordinary life %i nobody is frozen',
  async (number) => {
    const life = await beginPlay(await start({ chain: true }), randomOf(seed + number))

    await play(life, 200)

    await expectNobodyFrozen(life)
  },
  300_000,
)
