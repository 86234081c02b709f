/** A program without a browser asks by a code, and has what the owner who entered it decided (RFC 8628). */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { denyDevice, deviceHost, grantDevice } from '../../shared/oauth/device.ts'
import { isLoopback } from '../../shared/oauth/redirect-uri.ts'
import { ask, postForm, postJson, register, serve, sessionOf } from '../support/oauth.ts'
import { feedOf } from '../support/owner.ts'
import { start } from '../support/world.ts'

const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
const tests = await start()
const served = await serve(tests)
const client = await register(served, {
  redirect_uris: undefined,
  response_types: [],
  grant_types: [grant_type, 'refresh_token'],
})
const begun = z.object({ device_code: z.string(), user_code: z.string(), phrase: z.string() })

async function begin(form: Record<string, string> = {}) {
  const { body } = await postForm(served, '/oauth/device', { client_id: client, ...form })
  return begun.parse(body)
}

const poll = (device_code: string, form: Record<string, string> = {}) =>
  postForm(served, '/oauth/token', { grant_type, client_id: client, device_code, ...form })
const errorOf = async (device_code: string) => (await poll(device_code)).body['error']
const choice = { scopes: ['pay'], days: 7, maxPerDayUsdMicros: 5_000_000n } as const

test('a program registers without an address, and the metadata say where it begins', async () => {
  const registered = await postJson(served, '/oauth/register', { grant_types: [grant_type] })
  const { body } = await ask(served, '/.well-known/oauth-authorization-server/oauth')

  expect(registered.body).toMatchObject({
    redirect_uris: [],
    grant_types: [grant_type],
    response_types: [],
  })
  expect(body['device_authorization_endpoint']).toBe(`${served.url}/oauth/device`)
  expect(body['grant_types_supported']).toContain(grant_type)
})

test('a request names code, page, words and pace', async () => {
  const { status, body } = await postForm(served, '/oauth/device', { client_id: client })
  const page = `${served.world.config.WEB_URL}/device`

  expect(status).toBe(200)
  expect(body).toMatchObject({ verification_uri: page, expires_in: 600, interval: 5 })
  expect(body['user_code']).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
  expect(body['verification_uri_complete']).toBe(`${page}?user_code=${String(body['user_code'])}`)
  expect(body['phrase']).toMatch(/^[a-z]+ [a-z]+ [a-z]+$/)
})

test('what the owner allows is what the program gets, once', async () => {
  const agent = await tests.agent('read')
  const { device_code, user_code } = await begin({ scope: 'pay' })

  const before = await errorOf(device_code)
  const isGiven = await grantDevice(await sessionOf(served, agent), user_code, choice)
  const { status, body } = await poll(device_code)
  const headers = { authorization: `Bearer ${String(body['access_token'])}` }
  const identity = await ask(served, '/get-identity', { headers })

  expect([before, isGiven, status]).toEqual(['authorization_pending', true, 200])
  expect(body).toMatchObject({ token_type: 'Bearer', scope: 'pay' })
  expect(identity.body).toMatchObject({ alias: agent.alias, credential: { scopes: ['pay'] } })
  expect(await errorOf(device_code)).toBe('invalid_grant')
  expect(await feedOf(tests.db, agent)).toEqual(['app_connected', 'app_token_reused'])
  expect((await ask(served, '/get-identity', { headers })).status).toBe(401)
})

test('a code that one account decided serves no other', async () => {
  const [first, second] = [await tests.agent('read'), await tests.agent('read')]
  const { device_code, user_code } = await begin({ scope: 'pay' })

  await grantDevice(await sessionOf(served, first), user_code, choice)
  const session = await sessionOf(served, second)
  const later = [
    await grantDevice(session, user_code, choice),
    await denyDevice(session, user_code),
  ]
  const { body } = await poll(device_code)
  const headers = { authorization: `Bearer ${String(body['access_token'])}` }

  expect(later).toEqual([false, false])
  expect((await ask(served, '/get-identity', { headers })).body['alias']).toBe(first.alias)
})

test('the place of a program without an address is that of no app on this machine', () => {
  expect(isLoopback(`http://${deviceHost}`)).toBe(false)
})

test('more than was asked is not given', async () => {
  const agent = await tests.agent('read')
  const { device_code, user_code } = await begin({ scope: 'read' })

  const giving = grantDevice(await sessionOf(served, agent), user_code, choice)

  await expect(giving).rejects.toThrow('invalid_request')
  expect(await errorOf(device_code)).toBe('authorization_pending')
})

test('a denial, an end and another client are answered as such', async () => {
  const agent = await tests.agent('read')
  const denied = await begin()
  const late = await begin()
  await denyDevice(await sessionOf(served, agent), denied.user_code)
  const other = await poll(late.device_code, { client_id: 'aoa_c_other' })
  await tests.tick(601)

  expect(await errorOf(denied.device_code)).toBe('access_denied')
  expect(await errorOf(late.device_code)).toBe('expired_token')
  expect(await grantDevice(await sessionOf(served, agent), late.user_code, choice)).toBe(false)
  expect(other.body['error']).toBe('invalid_client')
})

test('who asks too often waits longer each time', async () => {
  const { device_code } = await begin()

  const early = [await errorOf(device_code), await errorOf(device_code)]
  await tests.tick(9)
  const stillEarly = await errorOf(device_code)
  await tests.tick(15)

  expect([...early, stillEarly]).toEqual(['authorization_pending', 'slow_down', 'slow_down'])
  expect(await errorOf(device_code)).toBe('authorization_pending')
})

test('a client that did not register for it, and odd fields, are refused', async () => {
  const browsers = await register(served)
  const errors = await Promise.all(
    [
      { client_id: browsers },
      { client_id: client, scope: 'owner' },
      { client_id: client, resource: 'https://other.example' },
      { client_id: 'aoa_c_unknown' },
      {},
    ].map(async (form) => (await postForm(served, '/oauth/device', form)).body['error']),
  )

  expect(errors).toEqual([
    'unauthorized_client',
    'invalid_scope',
    'invalid_target',
    'invalid_client',
    'invalid_request',
  ])
})
