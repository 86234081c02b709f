/** An app may ask only for valid things, and a browser is never sent to an unverified address. */
import { expect, test } from 'vitest'
import { readAuthorizationRequest } from '../../shared/oauth/authorization-request.ts'
import { asking, read, redirectUri, register, serve } from '../support/oauth.ts'
import { start } from '../support/world.ts'

const tests = await start()
const served = await serve(tests)
const client = await register(served)
const right = asking(client).params

function without(name: string) {
  const { [name]: _, ...rest } = right
  return rest
}

async function errorOf(params: Record<string, string>) {
  const found = await read(served, params)
  if (found.kind !== 'sent_back') return found.kind
  const { searchParams, origin } = new URL(found.location)
  return { origin, error: searchParams.get('error'), iss: searchParams.get('iss') }
}

test('a request is shown as what it is', async () => {
  const found = await read(
    served,
    asking(client, { scope: 'full read read offline_access' }).params,
  )

  expect(found).toMatchObject({
    kind: 'asked',
    request: {
      client: { id: client, name: 'An app', isDocument: false, refreshes: true },
      redirectUri,
      redirectHost: 'app.example',
      isLocal: false,
      scopes: ['read', 'full'],
      state: 'the state of the app',
    },
  })
})

test('a request without a scope asks to look on', async () => {
  expect(await read(served, right)).toMatchObject({ request: { scopes: ['read'] } })
})

test.each([
  ['an unknown client', { client_id: client.slice(0, -1) + '0' }],
  ['a client that is no address', { client_id: 'app' }],
  ['another host', { redirect_uri: 'https://evil.example/back' }],
  ['a longer path', { redirect_uri: `${redirectUri}/more` }],
  ['a shorter path', { redirect_uri: redirectUri.slice(0, -1) }],
  ['a query', { redirect_uri: `${redirectUri}?a=b` }],
  ['a fragment', { redirect_uri: `${redirectUri}#a` }],
  ['another scheme', { redirect_uri: redirectUri.replace('https', 'http') }],
  ['capitals', { redirect_uri: redirectUri.replace('app', 'APP') }],
  ['a port', { redirect_uri: redirectUri.replace('example', 'example:443') }],
  ['a user name', { redirect_uri: redirectUri.replace('app', 'app@evil') }],
  ['a script', { redirect_uri: 'javascript:alert(1)' }],
])('a browser is sent nowhere for %s', async (_, differs) => {
  const found = await read(served, { ...right, ...differs })

  expect(found.kind).toBe('refused')
  expect(found).not.toHaveProperty('location')
})

test('a browser is sent nowhere when it is not clear by whom or whereto', async () => {
  for (const name of ['client_id', 'redirect_uri']) {
    expect(await errorOf(without(name))).toBe('refused')
    const twice = new URLSearchParams(right)
    twice.append(name, right[name] ?? '')
    expect((await readAuthorizationRequest(served.world, twice)).kind).toBe('refused')
  }
})

test.each([
  ['invalid_request', without('response_type')],
  ['unsupported_response_type', { ...right, response_type: 'token' }],
  ['unsupported_response_type', { ...right, response_type: 'code token' }],
  ['invalid_request', { ...right, response_mode: 'fragment' }],
  ['invalid_request', without('code_challenge')],
  ['invalid_request', without('code_challenge_method')],
  ['invalid_request', { ...right, code_challenge_method: 'plain' }],
  ['invalid_request', { ...right, code_challenge: 'short' }],
  ['invalid_request', { ...right, dpop_jkt: 'short' }],
  ['invalid_request', { ...right, state: 's'.repeat(2049) }],
  ['invalid_scope', { ...right, scope: 'read everything' }],
  ['invalid_scope', { ...right, scope: 'owner' }],
  ['invalid_target', { ...right, resource: 'https://other.example' }],
  ['request_not_supported', { ...right, request: 'a.b.c' }],
  ['request_uri_not_supported', { ...right, request_uri: 'urn:a' }],
])('the app is told %s, by whom', async (error, params) => {
  expect(await errorOf(params)).toEqual({
    origin: 'https://app.example',
    error,
    iss: `${served.url}/oauth`,
  })
})

test('a parameter that is there twice is told, whichever it is', async () => {
  for (const name of ['state', 'scope', 'code_challenge', 'response_type']) {
    const params = new URLSearchParams(right)
    params.append(name, params.get(name) ?? 'read')
    params.append(name, 'again')
    expect((await readAuthorizationRequest(served.world, params)).kind).toBe('sent_back')
  }
})

test('both names of the resource are good, with and without a slash', async () => {
  for (const resource of ['', '/', '/mcp', '/mcp/'].map((path) => served.url + path)) {
    expect((await read(served, { ...right, resource })).kind).toBe('asked')
  }
})

test('a program on the own machine listens where it likes, at the path that it named', async () => {
  const program = await register(served, { redirect_uris: ['http://127.0.0.1/back'] })
  const kindFor = async (uri: string) =>
    (await read(served, asking(program, { redirect_uri: uri }).params)).kind

  expect(
    await read(served, asking(program, { redirect_uri: 'http://127.0.0.1:49152/back' }).params),
  ).toMatchObject({ kind: 'asked', request: { isLocal: true, redirectHost: '127.0.0.1' } })
  expect(await kindFor('http://127.0.0.1:49152/other')).toBe('refused')
  expect(await kindFor('http://localhost:49152/back')).toBe('refused')
  expect(await kindFor('http://127.0.0.1.evil.example/back')).toBe('refused')
  expect(await kindFor('http://127.0.0.1:1@evil.example/back')).toBe('refused')
})

test.each([
  ['com.evil.app://bank.example/back', 'com.evil.app:'],
  ['bank.example:/back', 'bank.example:'],
  ['bank.example:back', 'bank.example:'],
])('an installed app that is called by %s is not shown as a host', async (uri, shown) => {
  const id = await register(served, { redirect_uris: [uri] })

  expect(await read(served, asking(id, { redirect_uri: uri }).params)).toMatchObject({
    kind: 'asked',
    request: { isLocal: true, redirectHost: shown },
  })
})

test('another port of a host is shown, for it may be somebody else', async () => {
  const uri = 'https://app.example:8443/back'
  const id = await register(served, { redirect_uris: [uri] })

  expect(await read(served, asking(id, { redirect_uri: uri }).params)).toMatchObject({
    request: { isLocal: false, redirectHost: 'app.example:8443' },
  })
})
