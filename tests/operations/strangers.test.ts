/** Callers without an account break nothing and leave little; tests/long sends 500,000 of their calls. */
import { expect, test } from 'vitest'
import { inForm } from '../support/cases.ts'
import { sendAsStrangers } from '../support/strangers/campaign.ts'
import { start } from '../support/world.ts'

const world = await start()

test('of all requests, forms and mails of strangers none breaks anything, and no table grows beyond its bound', async () => {
  const { findings } = await sendAsStrangers(world, { seed: 1, count: inForm(400, 1_500) })

  expect(findings).toEqual([])
  expect(world.log).toEqual([])
})
