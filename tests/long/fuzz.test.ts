/** 100,000 requests generated from the description of all operations. */
import { expect, test } from 'vitest'
import { openCampaign } from '../support/fuzz/campaign.ts'
import { start } from '../support/world.ts'

const count = Number(process.env['COUNT'] ?? 10_000)
const campaign = await openCampaign(await start({ chain: true }))

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
  'seed %i: 10,000 requests break nothing, are answered as described, and change nothing where refused',
  async (seed) => {
    const { findings, statuses } = await campaign.run({ seed, count })

    expect(findings).toEqual([])
    // Every operation was done, and every one refused: else the requests would show little.
    for (const [id, counts] of Object.entries(statuses)) {
      console.log(id, JSON.stringify(counts))
    }
  },
)
