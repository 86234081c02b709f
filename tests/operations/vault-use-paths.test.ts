/** A secret goes only to the path that the owner read; another spelling of a path is the same path. */
import { expect, test } from 'vitest'
import { answering, serverThat } from '../support/http.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()

test.each([
  ['/api/login/%2e%2e/%2e%2e/notes'],
  ['/api/login/../../notes'],
  ['/notes#/api/login'],
  ['/notes?x=1#/api/login'],
  ['/notes//7'],
  ['/%6eotes/%2e./a%2fb?x=%3a%41'],
])('a secret goes to the path that was approved, for %s', async (path) => {
  const site = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
  const origin = new URL(site.url).origin
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site: origin, password: 'Canary-1 horse' })
  const inject = [{ where: 'form_field', name: 'password', secret: 'password' }]
  const use = () => agent.post('/vault-use', { credential_id, method: 'POST', path, inject })
  const asked = await use()
  await world.db.sql`update private.vault_destinations set approved_at = private.clock()
    where entry = ${credential_id}`

  await use()

  const words = JSON.stringify(asked.body['details'] ?? {})
  for (const { url } of site.received) expect(words).toContain(`POST ${origin}${url}, field`)
})

test.each([
  ['/api/./login'],
  ['/api/x/../login'],
  ['/api//login'],
  ['/%61pi/%6cogin'],
  ['/api/login#/notes'],
])('%s is the path that was approved, and is sent as it was approved', async (path) => {
  const site = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
  const agent = await world.agent('vault')
  const entry = { site: new URL(site.url).origin, password: 'Canary-1 horse' }
  const credential_id = await entryOf(world, agent, entry)
  await approveDestination(world, credential_id, { name: 'password', path: '/api/login' })
  const inject = [{ where: 'form_field', name: 'password', secret: 'password' }]

  const { status } = await agent.post('/vault-use', { credential_id, method: 'POST', path, inject })

  expect([status, ...site.received.map(({ url }) => url)]).toEqual([200, '/api/login'])
})

test.each(['/API/login', '/api/login/', '/api%2flogin', '/api/login?x', '/api/log%2569n'])(
  '%s is another path',
  async (path) => {
    const site = await serverThat(answering(200, { 'content-type': 'text/plain' }, 'welcome'))
    const agent = await world.agent('vault')
    const entry = { site: new URL(site.url).origin, password: 'Canary-1 horse' }
    const credential_id = await entryOf(world, agent, entry)
    await approveDestination(world, credential_id, { name: 'password', path: '/api/login' })
    const inject = [{ where: 'form_field', name: 'password', secret: 'password' }]
    const order = { credential_id, method: 'POST', path, inject }

    const { status } = await agent.post('/vault-use', order)

    expect([status, site.received.length]).toEqual([403, 0])
  },
)
