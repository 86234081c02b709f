/** 20,000 random attempts at 60 kinds of honest sites reveal no secret. */
import { expect, test } from 'vitest'
import { honestKinds } from '../support/honest-kinds.ts'
import { openHonestSite } from '../support/honest-site.ts'
import { openThief, secretWords, steal } from '../support/secret-thief.ts'
import { seeded } from '../support/seed.ts'
import { start } from '../support/world.ts'

const world = await start()
const tries = 334

test('no secret is shown at 60 sites, whatever an agent tries 334 times at each', async () => {
  const chance = seeded()
  const began = performance.now()
  let done = 0
  for (const kind of honestKinds) {
    const site = await openHonestSite(kind)
    const thief = await openThief(world, site, chance)

    const stolen = await steal(thief, tries)

    done += stolen.done
    expect(stolen.leaks, kind.name).toEqual([])
    expect(site.shown(), kind.name).not.toMatch(secretWords)
  }
  const seconds = (performance.now() - began) / 1000
  console.info(`${honestKinds.length * tries} tries, ${done} of them done, in ${seconds} seconds`)
}, 3_600_000)
