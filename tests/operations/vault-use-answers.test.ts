/** Answers to passwords and codes are not shown, and those to API keys are shown without the key. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { echoes, spreadEchoes } from '../support/hostile-echo.ts'
import { type Answering, serverThat } from '../support/http.ts'
import { approveDestination, codeOf, entryOf } from '../support/vault-rows.ts'
import { type Agent, type Answer, start } from '../support/world.ts'

const world = await start()
let agent: Agent
let answer: Answering = (response) => response.end()
const site = await serverThat((response, received) => {
  response.sendDate = false
  answer(response, received)
})
const elsewhere = await serverThat((response) => response.end('elsewhere'))
const { origin } = new URL(site.url)
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const
const around = { before: 'You said: ', after: ', and that was it.' }
const password = 'CanaryOne+/ä "q" xyz'
const token = 'canary-tok-4711'

async function login(username = 'ada', given: object = {}) {
  agent = await world.agent('vault')
  const entry = { site: origin, username, password, totp, fields: { token, pin: '4711' } }
  const previous = { previous_passwords: ['Canary-0-old-words'] }
  const id = await entryOf(world, agent, { ...entry, ...previous, ...given })
  for (const secret of [
    'password',
    'previous_password',
    'totp',
    'mail',
    'fields.token',
    'fields.pin',
  ]) {
    await approveDestination(world, id, { name: 'p', secret })
  }
  await approveDestination(world, id, { where: 'basic' })
  return id
}

function use(
  credential_id: string,
  inject: object,
  order: object = {},
  headers = {},
): Promise<Answer> {
  const whole = { credential_id, method: 'POST', path: '/', inject: [inject], ...order }
  return agent.post('/vault-use', whole, headers)
}

const field = (secret: string) => ({ where: 'form_field', name: 'p', secret })
const said = (body: Buffer) => new URLSearchParams(body.toString()).get('p') ?? ''

test('of the answer to a password or a code nothing is shown that a site could make of it', async () => {
  const entry = await login()
  const handle = await codeOf(world, agent, { value: '904817', hosts: ['127.0.0.1'] })
  const link = `${origin}/in/canary-9f8e7d6c5b4a?otp=604918#x`
  const linked = await codeOf(world, agent, { value: link, hosts: ['127.0.0.1'], kind: 'link' })
  const encode = Object.values({ ...echoes, ...spreadEchoes })
  answer = (response, { url, headers, body }) => {
    const secret = said(body) || String(headers.authorization ?? url)
    const all = encode.map((echo) => String(echo(secret, around)))
    const lines = all.filter((text) => /^[\t -~]{1,200}$/.test(text)).slice(0, 40)
    response.setHeader('set-cookie', lines)
    lines.forEach((line, at) => void response.setHeader(`x-${at}`, line))
    response.setHeader(
      'location',
      `/on?${encodeURIComponent(secret)}#${encodeURIComponent(secret)}`,
    )
    response
      .writeHead(200, { 'content-type': 'text/plain', etag: String(secret.length) })
      .end(all.join('\n'))
  }

  const answers = [
    await use(entry, field('password')),
    await use(entry, field('previous_password')),
    await use(entry, field('totp')),
    await use(entry, field(`mail.${handle}`)),
    await use(entry, { where: 'basic' }),
  ]
  const opened = await use(
    entry,
    { where: 'link', secret: `mail.${linked}` },
    { method: 'GET', path: undefined },
  )

  const response = { status: 200, headers: { 'content-type': 'text/plain' }, cookies: [], body: '' }
  const told = {
    response: { ...response, truncated: false, location: '/on' },
    removed: 0,
    withheld: 'password_sent',
  }
  for (const { body } of [...answers, opened]) {
    expect({ ...body, request_id: '' }).toEqual({ ...told, request_id: '' })
  }
})

test('the path of a redirect is told unless it repeats what was sent', async () => {
  const entry = await login()
  const led = async (location: string) => {
    answer = (response) => response.writeHead(302, { location }).end()
    const { body } = await use(entry, field('password'))
    return body['response']
  }

  expect(await led('https://other.example/in?code=1')).toMatchObject({
    status: 302,
    location: 'https://other.example/in',
  })
  expect(await led(`/search/${encodeURIComponent(password)}`)).not.toHaveProperty('location')
})

test.each(['password', 'fields.token'])(
  'the answer to the API key %s is shown without the key',
  async (secret) => {
    answer = (response, { headers }) => {
      const key = Buffer.from(String(headers.authorization).slice(7), 'latin1').toString()
      const [hex, base64] = (['hex', 'base64'] as const).map((one) =>
        Buffer.from(key).toString(one),
      )
      response.setHeader('set-cookie', [`a=${hex}`, 'b=c'])
      response.writeHead(200, {
        'x-key': key,
        'x-rate': '7',
        [`x-${hex}`]: 'a',
        etag: 'of-the-key',
      })
      response.end(JSON.stringify({ id: 7, key, base64, at: encodeURIComponent(key) }))
    }
    const key = { where: 'bearer', secret }
    const given = await login('', { password: 'canary-key-0815' })

    const { body } = await use(given, key)

    const gone = '[secret removed]'
    expect(body).toMatchObject({
      response: {
        headers: { 'x-key': gone, 'x-rate': '7', [`x-${gone}`]: 'a' },
        cookies: [`a=${gone}`, 'b=c'],
        body: `{"id":7,"key":"${gone}","base64":"${gone}","at":"${gone}"}`,
      },
      removed: 6,
    })
    expect(JSON.stringify(body)).not.toContain('of-the-key')
  },
)

test('the answer to a key of under eight characters shows no body, whatever was guessed', async () => {
  const entry = await login()
  answer = (response, { body }) =>
    response.setHeader('x-said', 'a').end(new URLSearchParams(body.toString()).get('said'))

  const right = await use(entry, field('fields.pin'), { form: { said: '4700 4711 4712' } })
  const wrong = await use(entry, field('fields.pin'), { form: { said: '4800 4811 4812' } })

  const told = ({ body }: Answer) => ({ ...body, request_id: '' })
  expect(right.body).toMatchObject({
    response: { status: 200, body: '' },
    withheld: 'short_secret',
  })
  expect(told(right)).toEqual(told(wrong))
})

test('of a body that is too long, no part of a key at its end is shown', async () => {
  const entry = await login()
  for (const shown of [1, 7, 14]) {
    answer = (response) => response.end('a'.repeat(256 * 1024 - shown) + token)

    const { body } = await use(entry, field('fields.token'))

    expect(body['response']).toMatchObject({ truncated: true })
    expect(JSON.stringify(body)).toMatch(/"a{260000,}"/)
  }
})

test.each([
  ['gzip', gzipSync(token)],
  ['zlib', deflateSync(token)],
  ['brotli', brotliCompressSync(token)],
  ['UTF-16 that says nothing', Buffer.from(`${token} of mine`, 'utf16le')],
])('a body that is no text is not shown: %s', async (_, bytes) => {
  const entry = await login()
  answer = (response) => response.end(bytes)

  const { body } = await use(entry, field('fields.token'))

  expect(body).toMatchObject({ response: { status: 200, body: '' }, withheld: 'not_text' })
})

test('a key is not readable in the bytes of a text that names another encoding', async () => {
  const entry = await login()
  for (const charset of ['utf-16le', 'shift_jis', 'windows-1252']) {
    const before = charset === 'shift_jis' ? Buffer.from([0x81]) : Buffer.from('')
    const type = { 'content-type': `text/plain; charset=${charset}` }
    answer = (response) =>
      response.writeHead(200, type).end(Buffer.concat([before, Buffer.from(`${token}\n`)]))

    const { body } = await use(entry, field('fields.token'))

    const { response } = body as { response: { body: string } }
    expect(['', '[secret removed]\n'], charset).toContain(response.body)
  }
})

const destinations = {
  'the same site': () => '/other',
  'another server': () => elsewhere.url,
  'another name of this machine': () => elsewhere.url.replace('127.0.0.1', 'localhost'),
  'a private network': () => 'http://10.0.0.1/latest',
  'a script': () => 'javascript:alert(1)',
}

test.each(Object.entries(destinations))(
  'a redirect to %s is told and not followed',
  async (_, to) => {
    const entry = await login()
    for (const status of [301, 303, 308]) {
      const asked = site.received.length
      answer = (response) =>
        response.writeHead(status, { location: `${to()}?p=${token}` }).end(token)

      const { body } = await use(entry, field('fields.token'))

      const location = `${to()}?p=[secret removed]`
      expect(body).toMatchObject({ response: { status, location, body: '' }, removed: 1 })
      expect(site.received).toHaveLength(asked + 1)
    }
    expect(elsewhere.received).toEqual([])
  },
)

test.each(['//127.0.0.1/', '/\\127.0.0.1/', 'http://127.0.0.1/', '', 'x', '/a b', '/\r\nhost: x'])(
  'a path such as %j is not sent',
  async (path) => {
    const asked = site.received.length

    const used = await use(await login(), field('password'), { path })

    expect(used).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(site.received).toHaveLength(asked)
  },
)

test('an answer that is kept for repeats lies sealed, and is given out in its own place alone', async () => {
  const entry = await login()
  const { sql } = world.db
  const ask = (key: string) => use(entry, field('fields.token'), {}, { 'idempotency-key': key })
  const firsts = []
  for (const key of ['from', 'to']) {
    answer = (response) =>
      response.setHeader('set-cookie', 'sid=canary-session').end(`Canary of ${key}`)
    firsts.push(await ask(key))
  }
  const again = await ask('from')
  const rows = await sql`select i::text as row from private.idempotent_answers i`
  await sql`update private.idempotent_answers i set body = o.body
    from private.idempotent_answers o where i.key = 'to' and o.key = 'from'`

  const moved = await ask('to')

  expect(again.body).toEqual(firsts[0]?.body)
  expect(JSON.stringify(again.body)).toContain('Canary of from')
  expect(JSON.stringify(rows)).not.toMatch(/canary|sid=/i)
  expect(moved).toMatchObject({ status: 500, body: { error: 'internal_error' } })
  expect(JSON.stringify(moved.body)).not.toContain('Canary of')
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

  expect(kept).toContain('POST /')
  expect(kept).not.toMatch(/canary|You said/i)
})
