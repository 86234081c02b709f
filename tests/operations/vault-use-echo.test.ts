/** No answer reveals a secret, in whatever way a site sends its input back. */
import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { echoes, spreadEchoes } from '../support/hostile-echo.ts'
import type { TestServer } from '../support/http.ts'
import { serverThat } from '../support/http.ts'
import { approvePlace, entryOf } from '../support/vault-rows.ts'
import type { Agent, Answer, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

/** Way in which the site answers with the secret that it received. */
type Trick = (response: ServerResponse, secret: string) => void

const path = '/vault-use'
const around = { before: 'You said: ', after: ', and that was it.' }
/** Secrets of equal length with nothing else in common. */
const secrets = ['CanaryOne+/ä "q" xyz', 'kANARYtWO&<ö\\r/ abcd'] as const
const allEchoes = { ...echoes, ...spreadEchoes }

let world: TestWorld
let trick: Trick
let site: TestServer
let elsewhere: TestServer
let agent: Agent
let entries: string[]
beforeAll(async () => {
  world = await start()
  site = await serverThat((response, { body }) => {
    response.sendDate = false
    trick(response, new URLSearchParams(body.toString()).get('p') ?? '')
  })
  elsewhere = await serverThat((response) => response.end('elsewhere'))
  agent = await world.agent('vault')
  entries = await Promise.all(secrets.map(login))
})

async function login(password: string): Promise<string> {
  const username = password.slice(0, 3)
  const { origin } = new URL(site.url)
  const entry = await entryOf(world, agent, { site: origin, username, password })
  await approvePlace(world, entry, { name: 'p', path: '/echo' })
  return entry
}

function use(credential_id: string): Promise<Answer> {
  const inject = [{ where: 'form_field', name: 'p', secret: 'password' }]
  return agent.post(path, { credential_id, method: 'POST', path: '/echo', inject })
}

/** Asserts that the agent gets the same answer whichever secret the entry has. */
async function tellsNothing(does: Trick): Promise<Answer['body']> {
  trick = does
  const [one, other] = await Promise.all(entries.map(use))
  if (!one || !other) throw new Error('no answers')
  const told = ({ status, body }: Answer) => ({
    status,
    ...body,
    ...(body['response'] as object | undefined),
    request_id: '',
  })
  expect(told(one)).toEqual(told(other))
  return told(one)
}

const body =
  (encode: (typeof echoes)[string]): Trick =>
  (response, secret) =>
    response.setHeader('content-type', 'text/plain').end(encode(secret, around))

test.each(Object.entries(allEchoes))('no body tells a secret as %s', async (_, encode) => {
  const told = await tellsNothing(body(encode))
  expect(told['withheld'] ?? told['removed']).not.toBe(0)
})

test('no header tells a secret in any encoding that fits in one', async () => {
  const fits = Object.values(allEchoes).filter((encode) =>
    secrets.every((secret) => /^[\t -~]+$/.test(String(encode(secret, around)))),
  )
  expect(fits.length).toBeGreaterThan(30)
  for (const encode of fits) {
    const told = await tellsNothing((response, secret) => {
      const value = String(encode(secret, around))
      response.setHeader('set-cookie', [`a=${value}`, 'b=c'])
      response.writeHead(200, { etag: value, location: value, 'www-authenticate': value }).end('')
    })
    expect(told).toMatchObject({ status: 200 })
    expect(told['removed']).toBeGreaterThanOrEqual(4)
    expect(told['cookies']).toHaveLength(2)
  }
})

test('no name of a header tells a secret', async () => {
  const told = await tellsNothing((response, secret) => {
    const hex = Buffer.from(secret).toString('hex')
    response.writeHead(200, { [`x-${hex}`]: 'a', [hex]: 'b' }).end('')
  })
  expect(told['removed']).toBe(2)
})

test('a body in two pieces tells nothing, wherever it is cut', async () => {
  const length = Buffer.from(`${around.before}${secrets[0]}${around.after}`).length
  for (let cut = 1; cut < length; cut += 1) {
    const told = await tellsNothing((response, secret) => {
      const bytes = Buffer.from(around.before + secret + around.after)
      response.socket?.setNoDelay(true)
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write(bytes.subarray(0, cut), () =>
        setImmediate(() => response.end(bytes.subarray(cut))),
      )
    })
    expect(told['body']).toBe('You said: [secret removed], and that was it.')
  }
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)('a body compressed by %s is not shown', async (encoding, compress) => {
  const told = await tellsNothing((response, secret) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(compress(secret)),
  )
  expect(told['error']).toBe('site_unavailable')

  const unsaid = await tellsNothing((response, secret) => response.end(compress(secret)))
  expect(unsaid).toMatchObject({ withheld: 'not_text', body: '' })
})

test('of a body that is too long, no part of a secret at its end is shown', async () => {
  for (const shown of [1, 10, 19]) {
    const told = await tellsNothing((response, secret) =>
      response.end('a'.repeat(256 * 1024 - shown) + secret),
    )
    expect(told).toMatchObject({ truncated: true })
    expect(told['body']).toMatch(/^a{260000,}\[secret removed\]$/)
  }
})

const places = {
  'the same site': () => '/other',
  'another server': () => elsewhere.url,
  'another server, named without scheme': () => elsewhere.url.replace('http:', ''),
  'another name of this machine': () => elsewhere.url.replace('127.0.0.1', 'localhost'),
  'the same server under another name': () => site.url.replace('127.0.0.1', 'localhost'),
  'a private network': () => 'http://10.0.0.1/latest',
  'an address with a user': () => elsewhere.url.replace('//', '//a:b@'),
  'a script': () => 'javascript:alert(1)',
}

test.each(Object.entries(places))('a redirect to %s is told and not followed', async (_, to) => {
  for (const status of [301, 302, 303, 307, 308]) {
    const asked = site.received.length
    const told = await tellsNothing((response, secret) =>
      response
        .writeHead(status, { location: `${to()}?p=${encodeURIComponent(secret)}`, refresh: '0' })
        .end(secret),
    )
    expect(told).toMatchObject({
      status,
      location: `${to()}?p=[secret removed]`,
      body: '',
      removed: 1,
    })
    expect(site.received).toHaveLength(asked + 2)
  }
  expect(elsewhere.received).toEqual([])
})

test.each(['//127.0.0.1/', '/\\127.0.0.1/', 'http://127.0.0.1/', '', 'x', '/a b', '/\r\nhost: x'])(
  'a path such as %j is not sent',
  async (tried) => {
    const asked = site.received.length
    const inject = [{ where: 'form_field', name: 'p', secret: 'password' }]
    const order = { credential_id: entries[0], method: 'POST', path: tried, inject }

    const used = await agent.post(path, order)

    expect(used).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(site.received).toHaveLength(asked)
  },
)

test('a short secret that comes back is not told, and neither is where it stood', async () => {
  const pins = ['4711', '9302']
  entries = await Promise.all(pins.map(login))

  const told = await tellsNothing((response, secret) =>
    response.setHeader('x-pin', secret).end(`The pin is (${secret}).`),
  )

  expect(told).toMatchObject({ withheld: 'short_secret', headers: {}, body: '' })
})

test('nothing that was sent or came back is kept in the database or the log', async () => {
  const names = await world.db.sql<{ name: string }[]>`
    select relname as name from pg_class
     where relnamespace = 'private'::regnamespace and relkind = 'r'`
  const rows = await Promise.all(
    names.map(
      ({ name }) => world.db.sql`select t::text as row from private.${world.db.sql(name)} t`,
    ),
  )
  const kept = JSON.stringify([rows, world.log])

  expect(kept).toContain('POST /echo')
  expect(kept).not.toMatch(/canary|You said/i)
})
