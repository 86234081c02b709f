import { beforeAll, expect, test } from 'vitest'
import { totpCode } from '../../shared/vault/entries/totp.ts'
import { askedFor } from '../support/held.ts'
import {
  type Answering,
  answering,
  expiring,
  type Received,
  serverThat,
  type TestServer,
} from '../support/http.ts'
import { textWith } from '../support/matching.ts'
import { openPerson } from '../support/person.ts'
import { approveDestination, entryOf } from '../support/vault-rows.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const path = '/vault-use'
const password = 'Canary-1 horse "battery"'
const token = 'canary-tok-4711'
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const
const inject = [{ where: 'form_field', name: 'pass', secret: 'password' }]
const login = { method: 'POST', path: '/login', inject }
const keyed = { ...login, inject: [{ where: 'form_field', name: 'key', secret: 'fields.token' }] }

let world: TestWorld
let answer: Answering
let shop: TestServer
let site: string
beforeAll(async () => {
  world = await start()
  answer = welcome
  shop = await serverThat((response, received) => answer(response, received))
  site = new URL(shop.url).origin
})

const welcome = answering(200, { 'content-type': 'text/plain' }, 'welcome')

/** Returns an agent with an entry for this site. */
async function user(scope: 'vault' | 'pay' = 'vault', at = site) {
  answer = welcome
  const agent = await world.agent(scope)
  const secret = { password, totp, fields: { token } }
  const credential_id = await entryOf(world, agent, { site: at, ...secret })
  await approveDestination(world, credential_id, { name: 'pass', path: '/login' })
  await approveDestination(world, credential_id, {
    name: 'key',
    path: '/login',
    secret: 'fields.token',
  })
  return { agent, credential_id }
}

function last({ received }: TestServer): Received {
  const request = received.at(-1)
  if (!request) throw new Error('the site was asked nothing')
  return request
}

async function feedOf(agent: Agent) {
  const { body } = await (await agent.withKey('read')).get(
    '/wallet-activity-list?category=vault&limit=50',
  )
  return body['items']
}

test('sends the secret to the site in one request, and answers that it was taken', async () => {
  const { agent, credential_id } = await user()

  const used = await agent.post(path, {
    credential_id,
    ...login,
    headers: { Accept: 'text/plain' },
    form: { user: 'me' },
  })

  const { method, url, headers, body } = last(shop)
  expect(used).toMatchObject({
    status: 200,
    body: {
      response: { status: 200, body: '', headers: { 'content-type': 'text/plain' } },
      withheld: 'password_sent',
    },
  })
  expect([method, url, headers['accept']]).toEqual(['POST', '/login', 'text/plain'])
  expect([...new URLSearchParams(body.toString())]).toEqual([
    ['user', 'me'],
    ['pass', password],
  ])
})

test('each destination of a template is filled, with the code of the moment', async () => {
  const { agent, credential_id } = await user()
  const of = { method: 'PUT', path: '/' }
  const header = {
    where: 'header',
    name: 'x-token',
    secret: 'fields.token',
    prefix: 'Token ',
  } as const
  const otp = { where: 'json_field', name: '/otp', secret: 'totp' } as const
  await approveDestination(world, credential_id, {
    ...of,
    ...otp,
    also: [header, { where: 'basic' }],
  })
  const before = world.world.now().getTime()

  await agent.post(path, {
    credential_id,
    method: 'PUT',
    path: '/',
    json: { a: 1 },
    inject: [
      { where: 'json_field', pointer: '/otp', secret: 'totp' },
      { ...header, name: 'X-Token' },
      { where: 'basic' },
    ],
  })

  const { headers, body } = last(shop)
  const codes = [before, world.world.now().getTime()].map((at) => totpCode(totp, at).code)
  expect(codes.map((otp) => JSON.stringify({ a: 1, otp }))).toContain(body.toString())
  expect(headers['x-token']).toBe(`Token ${token}`)
  const basic = Buffer.from(`me:${password}`).toString('base64')
  expect(headers['authorization']).toBe(`Basic ${basic}`)
})

test('the answer to a key has its cookies each, and where the site leads', async () => {
  const { agent, credential_id } = await user()
  const cookies = ['sid=1; HttpOnly', 'theme=dark; Expires=Wed, 01 Jan 2031 00:00:00 GMT']
  answer = (response) => {
    response.setHeader('set-cookie', cookies)
    response.writeHead(303, { location: '/home', 'x-csrf': 'f' }).end('on')
  }

  const used = await agent.post(path, { credential_id, ...keyed })

  const headers = { 'x-csrf': 'f' }
  expect(used.body['response']).toMatchObject({
    status: 303,
    location: '/home',
    cookies,
    headers,
    body: '',
  })
})

test('headers that nothing could keep are left out or cut, and the rest is answered', async () => {
  const { agent, credential_id } = await user()
  const long = Buffer.from(`${'a'.repeat(8_191)}\u{1f600}`).toString('latin1')
  answer = answering(200, { [`x-${'n'.repeat(2_000)}`]: '1', 'x-long': long }, 'welcome')

  const used = await agent.post(path, { credential_id, ...keyed })

  const headers = { 'x-long': textWith('a'.repeat(8_191)) }
  expect(used).toMatchObject({ status: 200, body: { response: { body: 'welcome', headers } } })
})

test('each use is in the feed with site, key, method and path, and nothing secret', async () => {
  const { agent, credential_id } = await user('pay')

  await agent.post(path, { credential_id, ...login })

  expect(await feedOf(agent)).toMatchObject([
    {
      type: 'secret_used',
      summary: textWith(`A secret was used at ${site} with the key aoa_`),
      untrusted: { username: 'me', request: 'POST /login' },
    },
  ])
  expect(JSON.stringify(await feedOf(agent))).not.toMatch(/canary/i)
})

test('the owner is told by mail of the first use of a site, once', async () => {
  const { agent, email } = await openPerson(world)
  const credential_id = await entryOf(world, agent, { site, password })
  await approveDestination(world, credential_id, { name: 'pass', path: '/login' })
  const use = () => agent.post(path, { credential_id, ...login })

  await Promise.all([use(), use()])
  await use()

  const mails = await world.mails(email)
  expect(mails).toHaveLength(1)
  expect(mails[0]).toMatchObject({ subject: 'A login from your vault was used at a new site' })
  // The address is written so that no mail program makes a link of it.
  expect(JSON.stringify(mails)).toContain(new URL(site).host.replace('.1:', '[.]1:'))
  expect(JSON.stringify(mails)).not.toMatch(/canary/i)
})

test("a stranger's entry is answered as one that does not exist", async () => {
  const { credential_id } = await user()
  const stranger = await world.agent('full')
  const asked = shop.received.length

  const theirs = await stranger.post(path, { credential_id, ...login })

  expect(theirs).toMatchObject({ status: 404, body: { error: 'credential_not_found' } })
  expect(shop.received).toHaveLength(asked)
})

test('what cannot be made a request of is refused, sends nothing and is no use', async () => {
  const { agent, credential_id } = await user()
  const asked = shop.received.length
  const wrong = [
    [{ inject: [{ where: 'form_field', name: 'a', secret: 'fields.other' }] }, 'no fields.other'],
    [{ path: undefined }, 'has a path'],
    [{ method: 'GET' }, 'GET request'],
    [{ headers: { Host: 'evil.example' } }, 'header host'],
    [{ headers: { Cookie: 'sid=1' } }, 'header cookie'],
    [{ headers: { Authorization: 'Bearer mine' } }, 'header authorization'],
    [{ headers: { 'X-HTTP-Method-Override': 'PUT' } }, 'header x-http-method-override'],
    [{ headers: { accept: 'a', Accept: 'b' } }, 'header accept twice'],
    [{ inject: [{ where: 'bearer', secret: 'previous_password' }] }, 'no previous_password'],
  ] as const

  for (const [part, sentence] of wrong) {
    const used = await agent.post(path, { credential_id, ...login, ...part })
    expect(used, JSON.stringify(part)).toMatchObject({
      status: 422,
      body: { error: 'template_refused' },
    })
    expect(used.body['message']).toContain(sentence)
    expect(JSON.stringify(used.body)).not.toMatch(/canary/i)
  }

  expect(shop.received).toHaveLength(asked)
  expect(await feedOf(agent)).toEqual([])
})

test('a site that is not reached over https by a public name is sent nothing', async () => {
  for (const at of ['https://10.0.0.1', 'https://intranet.corp', 'https://shop.example.com:444']) {
    const { agent, credential_id } = await user('vault', at)

    const used = await agent.post(path, { credential_id, ...login })

    expect(used).toMatchObject({ status: 422, body: { error: 'site_refused' } })
    expect(await feedOf(agent)).toEqual([])
  }
})

test.each([
  ['says nothing', () => expiring(world)],
  ['hangs up', (): Answering => (response) => response.destroy()],
  ['compresses unasked', () => answering(200, { 'content-encoding': 'zstd' }, password)],
])('of a site that %s, it is said that the request may have arrived', async (_, way) => {
  const { agent, credential_id } = await user()
  answer = way()

  const used = await agent.post(path, { credential_id, ...login })

  expect(used).toMatchObject({ status: 502, body: { error: 'site_unavailable' } })
  expect(used.body['message']).toMatch(/may have received/)
  expect(JSON.stringify(used.body)).not.toMatch(/canary/i)
  expect(await feedOf(agent)).toHaveLength(1)
})

test('a frozen account has nothing sent, opened or booked', async () => {
  const { agent, credential_id } = await user()
  await agent.post('/account-freeze', {})
  const asked = shop.received.length

  const used = await agent.post(path, { credential_id, ...login })

  expect(used).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
  expect(shop.received).toHaveLength(asked)
  expect(await feedOf(agent)).toEqual([])
})

test('what is opened when a freeze comes is not booked and not sent', async () => {
  const { agent, credential_id } = await user()
  await agent.post(path, { credential_id, ...login })
  const asked = shop.received.length
  const late = world.worker({
    async fetch(input, init) {
      if (askedFor(input, init) === 'vault_begin_use') await agent.post('/account-freeze', {})
      return fetch(input, init)
    },
  })

  const used = await late.post(agent, path, { credential_id, ...login })

  expect(used).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
  expect(shop.received).toHaveLength(asked)
  expect(await feedOf(agent)).toHaveLength(1)
})
