import { expect, test } from 'vitest'
import { readConfig } from '../../shared/env.ts'
import { mayReturnTo } from '../../shared/hosted/link.ts'
import { browserOf, linkOf } from '../support/links.ts'
import { start } from '../support/world.ts'

const world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
const path = '/create-hosted-action'

test('a link holds 256 random bits, and the database only what they are hashed to', async () => {
  const agent = await world.agent('read')

  const { url } = await linkOf(agent, { action_type: 'deposit' })

  const token = url.replace('http://localhost/web/action/', '')
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
  const rows = await world.db.sql`select to_jsonb(a)::text as row from private.hosted_actions a`
  expect(JSON.stringify(rows)).not.toContain(token)
})

test('a link lives 15 minutes when nothing else is said, and from 1 to 60 when it is', async () => {
  const agent = await world.agent('read')
  await world.db.setClock(new Date('2027-01-01T12:00:00Z'))
  const ends = async (more: object) =>
    (await linkOf(agent, { action_type: 'login', ...more })).expires_at

  expect(await ends({})).toBe('2027-01-01T12:15:00.000Z')
  expect(await ends({ ttl_seconds: 60 })).toBe('2027-01-01T12:01:00.000Z')
  for (const ttl_seconds of [59, 3_601, 1.5, '900']) {
    const answer = await agent.post(path, { action_type: 'login', ttl_seconds })
    expect(answer, String(ttl_seconds)).toMatchObject({ status: 400 })
  }
})

test.each([
  [{ action_type: 'website_login' }, 400, 'invalid_request'],
  [{ action_type: 'website_login', username: 'ada' }, 400, 'invalid_request'],
  [{ action_type: 'login', site: 'www.shop.com' }, 400, 'invalid_request'],
  [{ action_type: 'deposit', username: 'ada' }, 400, 'invalid_request'],
  [{ action_type: 'website_login', site: 'shop.com', username: 'a\0b' }, 400, 'invalid_request'],
  [{ action_type: 'website_login', site: 'http://www.shop.com' }, 422, 'site_refused'],
  [{ action_type: 'website_login', site: 'https://10.0.0.1' }, 422, 'site_refused'],
  [{ action_type: 'website_login', site: 'https://ada@shop.com' }, 422, 'site_refused'],
  [{ action_type: 'website_login', site: 'http://localhost/web' }, 422, 'site_refused'],
  [{ action_type: 'deposit', chain: 'nowhere' }, 422, 'unsupported_chain'],
  [{ action_type: 'deposit', chain: 'base' }, 422, 'unsupported_chain'],
  [{ action_type: 'deposit', token: 'DOGE' }, 422, 'unsupported_token'],
  [{ action_type: 'deposit', amount: '0' }, 400, 'invalid_request'],
  [{ action_type: 'deposit', amount: '0.0000001' }, 400, 'invalid_request'],
  [{ action_type: 'login', chain: 'base-sepolia' }, 400, 'invalid_request'],
  [{ action_type: 'human_verification', amount: '1' }, 400, 'invalid_request'],
  [{ action_type: 'transfer' }, 400, 'invalid_request'],
  [{ action_type: 'login', return_url: 'https://evil.example/' }, 422, 'return_url_refused'],
])('%j is refused and makes no link', async (order, status, error) => {
  const agent = await world.agent('full')

  expect(await agent.post(path, order)).toMatchObject({ status, body: { error } })

  const rows = await world.db.sql`select from private.hosted_actions where account = ${agent.id}`
  expect(rows).toHaveLength(0)
})

test.each([
  ['https://shop.example/back?order=1#done', true],
  ['https://shop.example', true],
  ['https://shop.example:443/', true],
  ['https://SHOP.example/', true],
  ['http://shop.example/', false],
  ['https://shop.example:8443/', false],
  ['https://www.shop.example/', false],
  ['https://shop.example.evil.example/', false],
  ['https://shop.example@evil.example/', false],
  ['https://user@shop.example/', false],
  ['https://shop.example./', false],
  ['https://evil.example/https://shop.example/', false],
  ['https://evil.example\\@shop.example/', false],
  ['//shop.example/', false],
  ['/back', false],
  ['javascript:alert(1)//https://shop.example', false],
  ['data:text/html,https://shop.example', false],
  ['blob:https://shop.example/1', false],
  ['', false],
])('that a page leads back to %j is %s where only https://shop.example is allowed', (url, may) => {
  expect(mayReturnTo({ returnUrlOrigins: ['https://shop.example'] }, url)).toBe(may)
})

test('a deployment starts with origins only, and without a list leads nobody back', () => {
  const { product } = world.bindings
  const allowing = (list: string) => () => readConfig({ ...product, RETURN_URL_ORIGINS: list })

  for (const list of ['["https://shop.example/"]', '["https://shop.example/a"]', '["*"]', '{}']) {
    expect(allowing(list), list).toThrow()
  }
  const { RETURN_URL_ORIGINS: _, ...without } = product
  expect(readConfig(without).returnUrlOrigins).toEqual([])
})

test('at most 20 links of an account wait to be opened, however many are asked for at once', async () => {
  const agent = await world.agent('read')
  const other = await world.agent('read')
  const ask = () => agent.post(path, { action_type: 'human_verification', ttl_seconds: 60 })

  const answers = await Promise.all(Array.from({ length: 24 }, ask))

  const made = answers.filter(({ status }) => status === 200)
  expect(made).toHaveLength(20)
  expect(answers.find(({ status }) => status !== 200)).toMatchObject({
    status: 429,
    body: { error: 'too_many_links' },
  })
  expect(await other.post(path, { action_type: 'login' })).toMatchObject({ status: 200 })
  await browserOf(world, { url: String(made[0]?.body['url']) }, 'phone')('open')
  expect(await ask()).toMatchObject({ status: 200 })
  expect(await ask()).toMatchObject({ status: 429 })
  await world.tick(61)
  expect(await ask()).toMatchObject({ status: 200 })
})

test('a key that only uses the vault asks for a login of a site, and for nothing else', async () => {
  const agent = await world.agent('vault')
  const login = { action_type: 'website_login', site: 'https://shop.example.com' }

  const made = await agent.post(path, login)
  const seen = (id: unknown) => agent.get(`/hosted-action-status?action_id=${String(id)}`)
  const other = await (await agent.withKey('read')).post(path, { action_type: 'login' })

  expect(await seen(made.body['action_id'])).toMatchObject({ body: { status: 'pending' } })
  expect((await seen(other.body['action_id'])).status).toBe(404)
  expect(await agent.post(path, { action_type: 'deposit' })).toMatchObject({
    status: 403,
    body: { error: 'insufficient_scope' },
  })
})

test('money is asked for only where it can arrive', async () => {
  const nowhere = await start()
  const agent = await nowhere.agent('read')

  expect(await agent.post(path, { action_type: 'deposit' })).toMatchObject({
    status: 422,
    body: { error: 'unsupported_chain' },
  })
  expect(await agent.post(path, { action_type: 'login' })).toMatchObject({ status: 200 })
})
