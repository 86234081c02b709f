/** An app describes itself by registering, or by a document at its own address. */
import { expect, test } from 'vitest'
import { readAuthorizationRequest } from '../../shared/oauth/authorization-request.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { answering, expiring, serverThat } from '../support/http.ts'
import { textWith } from '../support/matching.ts'
import { ask, asking, postForm, postJson, read, register, serve } from '../support/oauth.ts'
import { start } from '../support/world.ts'

const tests = await start()
const served = await serve(tests)
const redirect_uris = ['https://app.example/back']
const asJson = { 'content-type': 'application/json' }

test('a network that registers all the time is slowed down', async () => {
  const args = (client_id: string) => ({ client_id, metadata: {}, client: '192.0.2.7' })
  for (let count = 0; count < 30; count += 1) {
    await tests.world.db.call('oauth_register_client', args(`aoa_c_${count}`))
  }

  const last = tests.world.db.call('oauth_register_client', args('aoa_c_last'))
  await expect(last).rejects.toThrow('rate_limited')
})

test('a registration without a consent is forgotten after a day, a used one stays', async () => {
  const [unused, used] = [await register(served), await register(served)]
  await tests.db.sql`update private.oauth_clients set granted_at = private.clock()
    where id = ${used}`
  await tests.tick(86_401)
  await runHousekeeping(tests.world)

  const kindOf = async (id: string) => (await read(served, asking(id).params)).kind
  expect([await kindOf(unused), await kindOf(used)]).toEqual(['refused', 'asked'])
})

/** Serves a client document at an address of its own, on loopback. */
async function documentThat(
  differs: object,
  headers: Record<string, string> = asJson,
  status = 200,
) {
  let id = ''
  const server = await serverThat((response, received) => {
    const metadata = { client_id: id, client_name: 'Documented', redirect_uris, ...differs }
    answering(status, headers, JSON.stringify(metadata))(response, received)
  })
  id = `${server.url}client.json`
  return { id, server }
}

test('an app is known by the document at its address, which is read once a minute at most', async () => {
  const { id, server } = await documentThat({
    grant_types: ['authorization_code', 'refresh_token'],
  })

  const found = await read(served, asking(id).params)
  await read(served, asking(id).params)

  expect(found).toMatchObject({
    kind: 'asked',
    request: {
      client: { id, name: 'Documented', isDocument: true, host: '127.0.0.1', refreshes: true },
    },
  })
  expect(server.received.map(({ headers }) => headers['cookie'])).toEqual([undefined])
  await tests.tick(61)
  await read(served, asking(id).params)
  expect(server.received).toHaveLength(2)
})

test.each([
  ['max-age=3600', 3500, 1],
  ['max-age=3600', 3700, 2],
  ['no-store', 50, 1],
  ['max-age=99999999', 86_300, 1],
  ['max-age=99999999', 86_500, 2],
])('a document with %s is read again after %i seconds or not', async (control, seconds, reads) => {
  const { id, server } = await documentThat({}, { ...asJson, 'cache-control': control })

  await read(served, asking(id).params)
  await tests.tick(seconds)
  await read(served, asking(id).params)

  expect(server.received).toHaveLength(reads)
})

test.each([
  ['another client_id', { client_id: 'https://other.example/client.json' }],
  ['no name', { client_name: undefined }],
  ['no redirect address', { redirect_uris: undefined }],
  ['no usable redirect address', { redirect_uris: ['http://app.example/back'] }],
  ['a secret', { client_secret: 'hush' }],
  ['a method with a secret', { token_endpoint_auth_method: 'client_secret_post' }],
  ['too many bytes', { padding: 'p'.repeat(5 * 1024) }],
])('a document with %s is refused in words', async (_, differs) => {
  const { id } = await documentThat(differs)

  const found = await read(served, asking(id).params)

  expect(found).toMatchObject({ kind: 'refused' })
  expect(found).toHaveProperty('reason', expect.stringContaining('could not be looked up'))
})

test('a redirect address of a document that cannot be used is dropped, and told when it is asked for', async () => {
  const { id } = await documentThat({
    redirect_uris: [...redirect_uris, 'http://app.example/back'],
  })

  const found = await read(served, asking(id).params)
  const back = await read(served, asking(id, { redirect_uri: 'http://app.example/back' }).params)

  expect(found).toMatchObject({
    kind: 'asked',
    request: { client: { redirectUris: redirect_uris } },
  })
  expect(back).toMatchObject({
    kind: 'refused',
    reason: textWith('an address that cannot be used'),
  })
})

test.each([
  ['another status', asJson, 404],
  ['a redirect', { ...asJson, location: 'https://app.example/client.json' }, 302],
  ['a page', { 'content-type': 'text/html' }, 200],
])('an address that answers with %s describes no app', async (_, headers, status) => {
  const { id } = await documentThat({}, headers, status)

  expect((await read(served, asking(id).params)).kind).toBe('refused')
})

test('a server that says nothing describes no app', async () => {
  const { url } = await serverThat(expiring(tests))

  expect((await read(served, asking(`${url}client.json`).params)).kind).toBe('refused')
})

test('an address that no app may have is not called', async () => {
  const { server, id } = await documentThat({})
  const addresses = [
    server.url,
    `${id}#a`,
    id.replace('client', 'a/../client'),
    `${id} `,
    `${id}?${'a'.repeat(2048)}`,
    id.replace('127.0.0.1', 'me@127.0.0.1'),
    'ftp://app.example/a',
    'http://app.example/a',
    'https://10.0.0.1/a',
    'https://app.internal/a',
  ]

  for (const address of addresses) {
    expect((await read(served, asking(address).params)).kind, address).toBe('refused')
  }
  expect(server.received).toEqual([])
})

test('one host is not called all the time, whoever makes it', async () => {
  const { server, id } = await documentThat({}, asJson, 404)
  await tests.tick(600)
  const kinds = []
  for (let count = 0; count < 22; count += 1) {
    const params = new URLSearchParams(asking(`${id}?${count}`).params)
    kinds.push(await readAuthorizationRequest(served.world, params).catch(String))
  }

  expect(server.received).toHaveLength(20)
  expect(kinds.at(-1)).toContain('rate_limited')
})

test('who looks for apps that are none keeps nobody from one of the same host', async () => {
  const { id, server } = await documentThat({})
  await tests.tick(600)
  await read(served, asking(id).params)
  await tests.tick(61)
  for (let count = 0; count < 22; count += 1) {
    await read(served, asking(`${server.url}none-${count}.json`).params).catch(String)
  }

  expect((await read(served, asking(id).params)).kind).toBe('asked')
})

test('endpoints take what they are for and answer everything else in their own way', async () => {
  const form = { grant_type: 'authorization_code' }
  const twice = await ask(served, '/oauth/token', {
    method: 'POST',
    body: 'grant_type=refresh_token&grant_type=refresh_token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const basic = { authorization: 'Basic YTpi' }
  const answers = {
    twice,
    json: await postJson(served, '/oauth/token', form),
    long: await postForm(served, '/oauth/token', { ...form, code: 'c'.repeat(17_000) }),
    none: await postForm(served, '/oauth/token', { client_id: 'a' }),
    other: await postForm(served, '/oauth/token', { grant_type: 'password' }),
    secret: await postForm(served, '/oauth/token', { ...form, client_secret: 's' }),
    basic: await postForm(served, '/oauth/token', form, basic),
    target: await postForm(served, '/oauth/token', { ...form, resource: 'https://a.example' }),
    bare: await postForm(served, '/oauth/token', form),
  }

  const errors = Object.entries(answers).map(([name, { body }]) => [name, body['error']])
  expect(Object.fromEntries(errors)).toEqual({
    twice: 'invalid_request',
    json: 'invalid_request',
    long: 'invalid_request',
    none: 'invalid_request',
    other: 'unsupported_grant_type',
    secret: 'invalid_client',
    basic: 'invalid_client',
    target: 'invalid_target',
    bare: 'invalid_request',
  })
  expect(await ask(served, '/oauth/token')).toMatchObject({ status: 405 })
  expect(await ask(served, '/oauth/authorize')).toMatchObject({
    status: 404,
    body: { hint: textWith('/.well-known/oauth-authorization-server/oauth') },
  })
})

test('every document names the same issuer, may be kept, and may be read from any origin', async () => {
  const issuer = `${served.url}/oauth`
  const places = [
    '/.well-known/oauth-authorization-server/oauth',
    '/oauth/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration/oauth',
    '/oauth/.well-known/openid-configuration',
  ]
  for (const place of places) {
    const { status, body, headers } = await ask(served, place)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        issuer,
        token_endpoint: `${issuer}/token`,
        code_challenge_methods_supported: ['S256'],
      },
    })
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect((await ask(served, place, { method: 'OPTIONS' })).status).toBe(204)
  }
  for (const prefix of ['', '/oauth']) {
    for (const resource of ['', '/mcp', '/mcp/']) {
      const place = `${prefix}/.well-known/oauth-protected-resource${resource}`
      const body = { resource: served.url + resource, authorization_servers: [issuer] }
      expect(await ask(served, place)).toMatchObject({ status: 200, body })
    }
  }
})
