/** 240 ways in which an agent goes for a secret: four kinds of theft at sixty kinds of honest sites. */
import { expect, test } from 'vitest'
import { honestKinds } from '../support/honest-kinds.ts'
import { openHonestSite } from '../support/honest-site.ts'
import { mailed, openThief, secretWords } from '../support/secret-thief.ts'
import { randomOf } from '../support/seed.ts'
import { codeOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'
import { thefts } from '../support/written-thefts.ts'

const world = await start()
const cases = honestKinds.flatMap((kind) =>
  Object.entries(thefts).map(([name, theft]) => ({ kind, name, theft })),
)

test.each(cases)('at $kind.name, $name tell nothing', async ({ kind, theft }) => {
  const site = await openHonestSite(kind)
  const thief = await openThief(world, site, randomOf(1))
  const { agent, credential_id } = thief
  const handle = () => codeOf(world, agent, { value: mailed, hosts: ['127.0.0.1'] })

  const answers = await theft({ agent, site, credential_id, handle })

  expect(answers.filter(({ status }) => status >= 500 && status !== 502)).toEqual([])
  expect(answers.flatMap((answer) => thief.leaksIn(answer))).toEqual([])
  expect(site.shown()).not.toMatch(secretWords)
})

test('the sites are sixty and the thefts of them all at least two hundred', () => {
  expect(new Set(honestKinds.map(({ name }) => name)).size).toBe(60)
  expect(cases.length).toBeGreaterThanOrEqual(200)
})
