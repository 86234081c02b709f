/** 100,000 requests generated from the descriptions of all operations break nothing. */
import { expect, test } from 'vitest'
import { openCampaign } from '../support/fuzz/campaign.ts'
import { start } from '../support/world.ts'

const campaign = await openCampaign(await start({ chain: true }))

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'seed %i: 10,000 requests break nothing, are answered as described, and change nothing where refused',
  async (seed) => {
    const { findings } = await campaign.run({ seed, count: 10_000 })

    expect(findings).toEqual([])
  },
)
