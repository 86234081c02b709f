/** An account is frozen for money that left unbooked, and never for ordinary activity. */
import { test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { beginPlay, expectNobodyFrozen, play } from '../support/outflow-play.ts'
import { seeded } from '../support/seed.ts'
import { start } from '../support/world.ts'

test('in ordinary life, with reorganizations and late answers, nobody is frozen', async () => {
  const random = seeded()
  const world = await start({ chain: true })

  for (let life = 0; life < inForm(1, 3); life += 1) {
    const begun = await beginPlay(world, random)
    await play(begun, inForm(30, 60))
    await expectNobodyFrozen(begun)
  }
}, 120_000)
