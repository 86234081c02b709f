/** Requests generated from the descriptions of all operations break nothing; tests/long sends 100,000. */
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { openCampaign } from '../support/fuzz/campaign.ts'
import { start } from '../support/world.ts'

const campaign = await openCampaign(await start({ chain: true }))

test('generated requests break nothing, are answered as described, and change nothing where refused', async () => {
  const { findings } = await campaign.run({ seed: 7, count: inForm(250, 1_000) })

  expect(findings).toEqual([])
})
