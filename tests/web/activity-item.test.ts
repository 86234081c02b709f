import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { start } from '../support/world.ts'

const world = await start()

test('an item that is not a payment has no proof', async () => {
  const agent = await world.agent('read')
  await world.db.sql`insert into private.activities (account, category, type, summary)
    values (${agent.id}, 'security', 'told', 'A key was made.')`
  const [row] = await world.db.sql`select id from private.activities where account = ${agent.id}`
  const browser = await signedIn(world, agent)

  const page = await browser.visit(`/web/activity/${String(row?.['id'])}`)
  const proof = await browser.send(`/web/activity/${String(row?.['id'])}/proof.json`)

  expect(page.text).toContain('A key was made.')
  expect(page.text).not.toContain('Download the proof')
  expect(proof.status).toBe(404)
})
