/**
 * No secret leaves after a freeze, amid uses of secrets. No deadline passes here, even on a busy
 * machine.
 */
import { expect, test } from 'vitest'
import { mulberry32 } from '../../scripts/local/random.ts'
import { answering, serverThat } from '../support/http.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { type Agent, start } from '../support/world.ts'

const world = await start()
const shop = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
const inject = [{ where: 'form_field', name: 'pass', secret: 'password' }]
const login = { method: 'POST', path: '/login', inject }

async function user() {
  const agent = await world.agent('vault')
  const secret = { password: 'a password of mine' }
  const entry = { site: new URL(shop.url).origin, ...secret }
  const credential_id = await entryOf(world, agent, entry)
  await approveDestination(world, credential_id, { name: 'pass', path: '/login' })
  return { agent, credential_id }
}

async function feedOf(agent: Agent) {
  const reader = await agent.withKey('read')
  const { body } = await reader.get('/wallet-activity-list?category=vault&limit=50')
  return body['items']
}

test('what began before a freeze is in the feed before it, and nothing is sent after', async () => {
  const next = mulberry32(20_261_122)
  for (const ended of [0, 5, 20].map((most) => (most === 0 ? 0 : next() % most))) {
    const { agent, credential_id } = await user()
    const asked = shop.received.length
    const uses = Array.from({ length: 30 }, () =>
      agent.post('/vault-use', { credential_id, ...login }),
    )
    await Promise.all(uses.slice(0, ended))

    await agent.post('/account-freeze', {})
    const booked = await feedOf(agent)
    const answers = await Promise.all(uses)

    const done = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ body }) => body['error'] === 'account_frozen')
    expect(done.length + refused.length).toBe(uses.length)
    expect(booked).toHaveLength(done.length)
    expect(shop.received).toHaveLength(asked + done.length)
  }
})
