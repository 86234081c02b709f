/** A request with a secret leaves once under its Idempotency-Key, whatever becomes of its answer. */
import { beforeAll, expect, test } from 'vitest'
import { type Answering, answering, serverThat, type TestServer } from '../support/http.ts'
import { anyText, textWith } from '../support/matching.ts'
import { ownerOf } from '../support/owner.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const path = '/vault-use'
const inject = [{ where: 'form_field', name: 'pass', secret: 'fields.key' }]
const login = { method: 'POST', path: '/login', inject }
const welcome = answering(200, { 'content-type': 'text/plain' }, 'welcome')

let world: TestWorld
let answer: Answering
let shop: TestServer
let site: string
beforeAll(async () => {
  world = await start()
  shop = await serverThat((response, received) => answer(response, received))
  site = new URL(shop.url).origin
})

async function user() {
  answer = welcome
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, { site, fields: { key: 'Canary-1 horse' } })
  await approveDestination(world, credential_id, {
    name: 'pass',
    path: '/login',
    secret: 'fields.key',
  })
  return { agent, credential_id }
}

async function feedOf(agent: Agent) {
  const reader = await agent.withKey('read')
  return (await reader.get('/wallet-activity-list?category=vault&limit=50')).body['items']
}

test('with an Idempotency-Key the site is asked once, and every repeat has its answer', async () => {
  const { agent, credential_id } = await user()
  const asked = shop.received.length
  const headers = { 'idempotency-key': 'login-1' }
  const use = () => agent.post(path, { credential_id, ...login }, headers)

  const answers = [...(await Promise.all([use(), use(), use()])), await use()]

  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(answers[0]).toMatchObject({ status: 200, body: { response: { body: 'welcome' } } })
  expect(shop.received).toHaveLength(asked + 1)
})

test('a request whose isolate is lost behind the books is not sent again under its key', async () => {
  const { agent, credential_id } = await user()
  const headers = { 'idempotency-key': 'lost-1' }
  const lost = world.worker({
    fetch: (input, init) =>
      new Request(input).url.startsWith(site) ? new Promise(() => {}) : fetch(input, init),
  })
  void lost.post(agent, path, { credential_id, ...login }, headers)
  await expect.poll(() => feedOf(agent)).toHaveLength(1)
  await world.tick(3_600)

  const again = await world
    .worker({ pause: () => Promise.resolve() })
    .post(agent, path, { credential_id, ...login }, headers)

  expect(again).toMatchObject({ status: 409, body: { error: 'conflict' } })
  expect(await feedOf(agent)).toHaveLength(1)
})

test('what was sent and came to nothing that could be kept is not sent again under its key', async () => {
  const { agent, credential_id } = await user()
  answer = (response) => response.destroy()
  const asked = shop.received.length
  const headers = { 'idempotency-key': 'broken-1' }
  const use = () => agent.post(path, { credential_id, ...login }, headers)

  const first = await use()
  const again = await use()

  expect(first).toMatchObject({ status: 502, body: { error: 'site_unavailable' } })
  expect(again).toMatchObject({
    status: 409,
    body: { error: 'conflict', message: textWith('came to no answer'), hint: anyText },
  })
  expect(shop.received).toHaveLength(asked + 1)
})

test('what is refused before it is sent leaves the key free', async () => {
  const { agent, credential_id } = await user()
  const headers = { 'idempotency-key': 'early-1' }
  const body = { credential_id, ...login, path: '/?{{password}}', json: {}, form: {} }

  const first = await agent.post(path, body, headers)
  const again = await agent.post(path, body, headers)

  expect(first.body['error']).toBe('template_refused')
  expect(again.body['error']).toBe('template_refused')
})

test.each([
  ['a freeze', (agent: Agent) => agent.post('/account-freeze', {})],
  [
    'the end of the login',
    async (agent: Agent, entry: string) =>
      (await ownerOf(world, agent)).call('delete_vault_entry', { entry }),
  ],
])(
  'after %s no repeat is told what the site said, and the site is not asked again',
  async (_, end) => {
    const { agent, credential_id } = await user()
    answer = answering(200, { 'set-cookie': 'sid=of-the-site' }, 'welcome')
    const headers = { 'idempotency-key': 'kept-1' }
    const use = () => agent.post(path, { credential_id, ...login }, headers)
    const first = await use()
    const asked = shop.received.length

    await end(agent, credential_id)
    const during = await use()
    await world.db.sql`update private.accounts set frozen_at = null where id = ${agent.id}`
    const after = await use()

    expect(JSON.stringify(first.body)).toContain('of-the-site')
    expect(during).toMatchObject({ status: 409, body: { error: 'conflict' } })
    expect(after).toMatchObject({ status: 409, body: { error: 'conflict' } })
    expect(shop.received).toHaveLength(asked)
  },
)
