/** 500,000 requests, forms and mails of callers without an account break nothing and leave little. */
import { expect, test } from 'vitest'
import { sendAsStrangers } from '../support/strangers/campaign.ts'
import { start } from '../support/world.ts'

const world = await start()

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'seed %i: of 50,000 calls of strangers none breaks anything, and no table grows beyond its bound',
  async (seed) => {
    const { findings, perSecond } = await sendAsStrangers(world, { seed, count: 50_000 })

    console.log(`${perSecond.toFixed()} a second`)
    expect(findings).toEqual([])
    expect(world.log).toEqual([])
  },
  1_800_000,
)
