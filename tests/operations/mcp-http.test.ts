/** Over HTTP the tools admit only valid tokens, and everybody else learns why they are refused. */
import { beforeAll, expect, test } from 'vitest'
import { mcpFunction } from '../../functions/mcp/index.ts'
import { delegationHeader } from '../../shared/auth/access-token.ts'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { textWith } from '../support/matching.ts'
import { address, type Fetch, modern, toolsIn } from '../support/mcp.ts'
import { connect, serve } from '../support/oauth.ts'
import { type Agent, pepper, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let agent: Agent
let fetch: Fetch
beforeAll(async () => {
  world = await start()
  agent = await world.agent('read')
  fetch = toolsIn(world.world)
})

const metadata = 'http://aoa.example/.well-known/oauth-protected-resource/mcp'
const initialize = {
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  },
}

/** Returns a request of the 2025 revisions of the protocol. */
function legacy(token: string, message: object): RequestInit {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  return { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) }
}

async function ask(init: RequestInit) {
  const response = await fetch(address, init)
  const text = await response.text()
  return { status: response.status, text, headers: response.headers }
}

test.each(['server/discover', 'tools/list', 'tools/call'])(
  'without a token %s is answered 401, with the way to one',
  async (method) => {
    const params = method === 'tools/call' ? { name: 'check_alias', arguments: {} } : {}

    const { status, headers } = await ask(modern('', method, params))

    const told = headers.get('www-authenticate') ?? ''
    expect(status).toBe(401)
    expect(told).toMatch(/^Bearer scope="pay", resource_metadata="/)
    expect(told).toContain(`resource_metadata="${metadata}"`)
  },
)

test('a token that is unknown or revoked is told to be invalid, whatever is asked', async () => {
  const revoked = await world.agent('read')
  const digest = await credentialOf(revoked.key, pepper)
  await world.db.sql`update private.credentials set revoked_at = private.clock()
    where digest = ${digest}`

  for (const token of ['aoa_test_made-up', revoked.key]) {
    for (const init of [modern(token, 'tools/list'), legacy(token, { id: 1, ...initialize })]) {
      const { status, headers } = await ask(init)
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
  }
})

test.each([
  { name: 'wallet_custodial_transfer', scope: 'pay' },
  { name: 'vault_list', scope: 'vault' },
])('an app without the scope $scope is answered 403 to $name, which names it', async (called) => {
  const params = { name: called.name, arguments: {} }
  const { access: token } = await connect(await serve(world), agent, 'read')
  const calls = [
    modern(token, 'tools/call', params),
    legacy(token, { id: 1, method: 'tools/call', params }),
  ]

  for (const init of calls) {
    const { status, headers } = await ask(init)
    const told = headers.get('www-authenticate') ?? ''
    expect(status).toBe(403)
    expect(told).toContain(`Bearer error="insufficient_scope", scope="read ${called.scope}"`)
    expect(told).toContain(`resource_metadata="${metadata}"`)
  }
})

test('a key without the scope of a tool, which no user can widen, hears of it in the result', async () => {
  const params = { name: 'wallet_custodial_transfer', arguments: {} }
  const calls = [
    modern(agent.key, 'tools/call', params),
    legacy(agent.key, { id: 1, method: 'tools/call', params }),
  ]

  for (const init of calls) {
    const { status, text } = await ask(init)
    expect(status).toBe(200)
    expect(JSON.parse(text.replace(/^[^{]*/, ''))).toMatchObject({
      result: { isError: true, content: [{ text: textWith('insufficient_scope') }] },
    })
  }
})

const bucketOf = ({ id }: Agent) =>
  world.db.sql`select arrives_at from private.rate_buckets b join private.credentials k
    on b.bucket = 'key:' || k.id where k.account = ${id}`

test('a call counts once against the rate of its caller', async () => {
  const slow = await world.agent('read', { rate: { perSecond: 1, burst: 100 } })
  const call = modern(slow.key, 'tools/call', { name: 'get_identity', arguments: {} })
  // While calls exceed the rate, each one moves the end of the queue by exactly one second.
  await Promise.all(Array.from({ length: 8 }, () => ask(call)))
  const before = await bucketOf(slow)

  await ask(call)

  const after = await bucketOf(slow)
  expect(after[0]?.['arrives_at'] - before[0]?.['arrives_at']).toBe(1000)
})

test('over the rate of its caller a message is refused, and told when to come back', async () => {
  const slow = await world.agent('read', { rate: { perSecond: 1, burst: 2 } })

  const lists = Array.from({ length: 20 }, () => ask(modern(slow.key, 'tools/list')))

  const refused = (await Promise.all(lists)).filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]?.headers.get('retry-after')).not.toBeNull()
})

test('there is no session and no stream to come back to', async () => {
  const authorization = `Bearer ${agent.key}`
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await ask({ method, headers: { authorization } })
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  }

  const opened = await ask(legacy(agent.key, { id: 1, ...initialize }))
  const noted = await ask(legacy(agent.key, { method: 'notifications/initialized' }))

  expect(opened.status).toBe(200)
  expect(opened.headers.get('mcp-session-id')).toBeNull()
  expect([noted.status, noted.text]).toEqual([202, ''])
})

/** Returns a message as a page of this origin sends it. */
function fromPage(origin: string, init: RequestInit): RequestInit {
  const headers = new Headers(init.headers)
  headers.set('origin', origin)
  return { ...init, headers }
}

test('a program in a page of any origin asks first, calls with its token, and can read a refusal', async () => {
  const listed = fromPage('https://desk.example', modern(agent.key, 'tools/list'))
  const bare = fromPage('null', modern('', 'tools/list'))

  const asked = await ask(fromPage('https://desk.example', { method: 'OPTIONS' }))
  const answers = [asked, await ask(listed), await ask(bare)]

  expect(answers.map(({ status }) => status)).toEqual([204, 200, 401])
  for (const { headers } of answers) {
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    // A wildcard covers every header but Authorization.
    expect(headers.get('access-control-allow-headers')).toBe('*, authorization')
    expect(headers.get('access-control-expose-headers')).toBe('*')
  }
  expect(answers[2]?.headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}"`)
})

test('on loopback a page of another host is refused, and one of this machine is not', async () => {
  const config = { ...world.world.config, BASE_URL: 'http://127.0.0.1:8787' }
  const local = toolsIn({ ...world.world, config })
  const statusFor = async (origin: string) =>
    (await local(address, fromPage(origin, modern(agent.key, 'tools/list')))).status

  expect(await statusFor('https://evil.example')).toBe(403)
  expect(await statusFor('null')).toBe(403)
  expect(await statusFor('http://127.0.0.1:8787')).toBe(200)
  expect(await statusFor('http://localhost:6274')).toBe(200)
})

test('a slash at the end of the address changes nothing, and is part of the name that is told', async () => {
  const withSlash = new URL('/mcp/', address)

  const listed = await fetch(withSlash, modern(agent.key, 'tools/list'))
  const refused = await fetch(withSlash, modern('', 'tools/list'))

  expect(await listed.text()).toContain('get_identity')
  expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${metadata}/"`)
  expect((await fetch(new URL('/mcp/more', address), modern(agent.key, 'ping'))).status).toBe(404)
})

test('more than one message, too large a body and what is no JSON are refused', async () => {
  const { headers } = modern(agent.key, 'tools/list')
  const send = async (body: string) =>
    (await ask({ method: 'POST', headers: headers ?? {}, body })).status

  expect(await send('[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]')).toBe(400)
  expect(await send(JSON.stringify({ filler: 'x'.repeat(150_000) }))).toBe(413)
  expect(await send('{')).toBe(400)
})

test('every answer carries a request id and the contract digest, and is kept by nobody', async () => {
  const { headers } = await ask(modern(agent.key, 'tools/list'))

  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('x-contract-digest')).toMatch(/^[\w:-]+$/)
  expect(headers.get('cache-control')).toBe('no-store')
})

test('a caller handed on is believed for a minute, by one function, and only under the pepper', async () => {
  const credential = await credentialOf(agent.key, pepper)
  const called = { method: 'GET', url: 'http://aoa.example/get-identity' }
  const header = await delegationHeader(world.world, called, credential)
  const identify = (authorization: string) =>
    world.send('/get-identity', { headers: { authorization } })
  const other = await world.agent('read')
  const swapped = header.replace(credential, await credentialOf(other.key, pepper))

  expect((await identify(header)).body['account_id']).toBe(agent.id)
  expect((await identify(swapped)).status).toBe(401)
  expect((await identify(`${header.slice(0, -1)}g`)).status).toBe(401)
  const elsewhere = { headers: { authorization: header } }
  expect((await world.send('/mail-list', elsewhere)).status).toBe(401)
  expect(
    (await world.send('/mail-list', { headers: { authorization: `Bearer ${agent.key}` } })).status,
  ).toBe(200)
  await world.tick(61)
  expect((await identify(header)).status).toBe(401)
})

test('what fails behind a tool is told to whoever runs it, and the caller hears only that it failed', async () => {
  const logged: string[] = []
  const log = (entry: Record<string, string | number>) => void logged.push(String(entry['log']))
  const broken = mcpFunction(
    () => ({ ...world.world, log }),
    () => async () => {
      throw new Error('connect ECONNREFUSED 10.0.0.7')
    },
  )
  const call = modern(agent.key, 'tools/call', { name: 'get_identity', arguments: {} })

  const answer = await (await broken.fetch(new Request(address, call))).text()

  expect(answer).toContain('internal_error')
  expect(answer).not.toContain('10.0.0.7')
  expect(logged.join()).toContain('10.0.0.7')
})
