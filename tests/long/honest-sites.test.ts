/** 20,000 things that an agent tries at an honest site for a secret, and none that tells it. */
import { expect, test } from 'vitest'
import { openHonestSite } from '../support/honest-site.ts'
import { openThief, secretWords, steal } from '../support/secret-thief.ts'
import { seeded } from '../support/seed.ts'
import { start } from '../support/world.ts'

const world = await start()
const thieves = 40
const tries = 500

test('no secret is shown, whatever 40 agents try 500 times each', async () => {
  const chance = seeded()
  for (let count = 0; count < thieves; count += 1) {
    const site = await openHonestSite()
    const thief = await openThief(world, site, chance)

    const { told } = await steal(thief, tries)

    expect(told.filter((words) => secretWords.test(words))).toEqual([])
    expect(site.shown()).not.toMatch(secretWords)
  }
}, 3_600_000)
