/** Requests of programs work at sites that accept only the right secret in the right destination. */
import { expect, test } from 'vitest'
import { totpCode } from '../../shared/vault/entries/totp.ts'
import { type Received, serverThat } from '../support/http.ts'
import { approveDestination, codeOf, entryOf } from '../support/vault-rows.ts'
import { start } from '../support/world.ts'

const world = await start()
const password = 'Canary-1-horse-battery'
const key = 'canary-key-4711'
const mailed = '904817'
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const

type Destination = Parameters<typeof approveDestination>[2]
type Case = {
  name: string
  destinations: Destination[]
  order: (handle: string) => object
  isRight: (received: Received) => boolean
  entry?: object
}

const member = (received: Received, ...names: string[]) =>
  names.reduce<unknown>(
    (value, name) => Object.entries(value ?? {}).find(([one]) => one === name)?.[1],
    JSON.parse(received.body.toString() || '{}'),
  )
const field = ({ body }: Received, name: string) => new URLSearchParams(body.toString()).get(name)
const basic = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`
const json = (pointer: string, secret = 'password') => ({ where: 'json_field', pointer, secret })
const jsonPlace = (name: string, path: string, secret = 'password'): Destination => ({
  where: 'json_field',
  name,
  path,
  secret,
})
const stands = (name: string, secret = 'password') =>
  ({ where: 'json_field', name, secret }) as const
const isCode = (value: unknown) =>
  [0, -30_000].some((ago) => totpCode(totp, world.world.now().getTime() + ago).code === value)

const cases: readonly Case[] = [
  {
    name: 'a login by JSON',
    destinations: [jsonPlace('/password', '/api/login')],
    order: () => ({ path: '/api/login', json: { user: 'ada' }, inject: [json('/password')] }),
    isRight: (sent) => member(sent, 'password') === password && member(sent, 'user') === 'ada',
  },
  {
    name: 'a login by a nested member',
    destinations: [jsonPlace('/data/attributes/password', '/v2/sessions')],
    order: () => ({ path: '/v2/sessions', inject: [json('/data/attributes/password')] }),
    isRight: (sent) => member(sent, 'data', 'attributes', 'password') === password,
  },
  {
    name: 'a login by GraphQL',
    destinations: [jsonPlace('/variables/password', '/graphql')],
    order: () => ({
      path: '/graphql',
      json: { query: 'mutation ($password: String!) { login(password: $password) { id } }' },
      inject: [json('/variables/password')],
    }),
    isRight: (sent) => member(sent, 'variables', 'password') === password,
  },
  {
    name: 'a login by JSON with a code of an app',
    destinations: [{ ...jsonPlace('/password', '/api/login'), also: [stands('/otp', 'totp')] }],
    order: () => ({ path: '/api/login', inject: [json('/password'), json('/otp', 'totp')] }),
    isRight: (sent) => member(sent, 'password') === password && isCode(member(sent, 'otp')),
  },
  {
    name: 'a code of a mail by JSON',
    destinations: [jsonPlace('/code', '/api/verify', 'mail')],
    order: (handle) => ({ path: '/api/verify', inject: [json('/code', `mail.${handle}`)] }),
    isRight: (sent) => member(sent, 'code') === mailed,
  },
  {
    name: 'a password changed by JSON',
    destinations: [
      {
        ...jsonPlace('/old', '/api/password', 'previous_password'),
        method: 'PUT',
        also: [stands('/new')],
      },
    ],
    order: () => ({
      method: 'PUT',
      path: '/api/password',
      inject: [json('/old', 'previous_password'), json('/new')],
    }),
    entry: { previous_passwords: ['Canary-0-old-words'] },
    isRight: (sent) =>
      member(sent, 'old') === 'Canary-0-old-words' && member(sent, 'new') === password,
  },
  {
    name: 'a form that the agent writes',
    destinations: [{ name: 'pass', path: '/session' }],
    order: () => ({
      path: '/session',
      form: { user: 'ada' },
      inject: [{ where: 'form_field', name: 'pass', secret: 'password' }],
    }),
    isRight: (sent) => field(sent, 'pass') === password && field(sent, 'user') === 'ada',
  },
  {
    name: 'Basic authentication',
    destinations: [{ where: 'basic', method: 'GET', path: '/api' }],
    order: () => ({ method: 'GET', path: '/api', inject: [{ where: 'basic' }] }),
    isRight: ({ headers }) => headers.authorization === basic,
  },
  {
    name: 'a key in a header',
    destinations: [
      { where: 'header', name: 'x-api-key', method: 'GET', path: '/v1', secret: 'fields.key' },
    ],
    order: () => ({
      method: 'GET',
      path: '/v1',
      inject: [{ where: 'header', name: 'X-Api-Key', secret: 'fields.key' }],
    }),
    entry: { fields: { key } },
    isRight: ({ headers }) => headers['x-api-key'] === key,
  },
  {
    name: 'a key after a word',
    destinations: [
      {
        where: 'header',
        name: 'authorization',
        prefix: 'Token ',
        method: 'GET',
        path: '/v1',
        secret: 'fields.key',
      },
    ],
    order: () => ({
      method: 'GET',
      path: '/v1',
      inject: [{ where: 'header', name: 'Authorization', prefix: 'Token ', secret: 'fields.key' }],
    }),
    entry: { fields: { key } },
    isRight: ({ headers }) => headers.authorization === `Token ${key}`,
  },
  {
    name: 'a bearer token, which nobody approves',
    destinations: [],
    order: () => ({
      method: 'DELETE',
      path: '/v1/things/7',
      inject: [{ where: 'bearer', secret: 'password' }],
    }),
    entry: { username: '' },
    isRight: ({ headers }) => headers.authorization === `Bearer ${password}`,
  },
]

test.each(cases)('$name works where its owner approved it once', async (one) => {
  const { destinations, order, isRight, entry = {} } = one
  const site = await serverThat((response, received) => {
    const status = isRight(received) ? 200 : 401
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"id":7}')
  })
  const { origin } = new URL(site.url)
  const agent = await world.agent('vault')
  const given = { site: origin, username: 'ada', password, totp, ...entry }
  const credential_id = await entryOf(world, agent, given)
  const handle = await codeOf(world, agent, { value: mailed, hosts: ['127.0.0.1'] })
  const ask = () => agent.post('/vault-use', { credential_id, method: 'POST', ...order(handle) })
  const before = destinations.length > 0 ? await ask() : undefined
  for (const destination of destinations)
    await approveDestination(world, credential_id, destination)

  const answer = await ask()

  if (before) expect(before).toMatchObject({ body: { error: 'destination_not_approved' } })
  expect(answer).toMatchObject({ status: 200, body: { response: { status: 200 }, removed: 0 } })
  expect(site.received).toHaveLength(1)
})
