/**
 * The gateway plays the front of a hosted project and the tokens behind it, and the product reads its
 * answers correctly. Expected answers come from Supabase's guides "API keys" and "JWT signing keys" and
 * from PostgREST's manual, "Errors".
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSigningKey, mintToken } from '../../scripts/local/database-keys.ts'
import type { Answer } from '../../scripts/local/gateway/errors.ts'
import { type Gateway, startGateway } from '../../scripts/local/gateway.ts'
import { Rejection } from '../../shared/contract/errors.ts'
import { openDatabase } from '../../shared/db/database.ts'
import {
  openTestDatabase,
  project,
  reloadSchema,
  signingKey,
  type TestDatabase,
} from '../support/database.ts'

let database: TestDatabase
let gateway: Gateway
let front: Answer | undefined

beforeAll(async () => {
  database = await openTestDatabase()
  gateway = await startGateway({
    databaseUrl: database.url,
    schema: 'api',
    keys: project.keys,
    connections: 2,
    front: () => front,
  })
})
afterAll(async () => {
  await gateway.close()
  await database.close()
})

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds
const tokenFor = (role: string, expiresAtSeconds = inSeconds(60), key = signingKey) =>
  mintToken(key, { role, expiresAtSeconds })

async function ask(headers: Record<string, string>, name = 'custody_ready') {
  const answer = await fetch(`${gateway.url}/rest/v1/rpc/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-profile': 'api', ...headers },
    body: '{}',
  })
  const text = await answer.text()
  const body: unknown = text === '' ? '' : JSON.parse(text)
  return { status: answer.status, body }
}

const bearing = (token: string) => ({ apikey: project.apiKey, authorization: `Bearer ${token}` })

test('a token of a role opens what that role may call, and nothing else', async () => {
  expect(await ask(bearing(tokenFor('custody')))).toEqual({ status: 204, body: '' })
  expect(await ask(bearing(tokenFor('vault')))).toMatchObject({
    status: 403,
    body: { code: '42501' },
  })
})

test('a request without an API key of the project is refused by its front', async () => {
  const token = tokenFor('custody')

  expect(await ask({ authorization: `Bearer ${token}` })).toMatchObject({
    status: 401,
    body: { message: 'No API key found in request' },
  })
  expect(await ask({ ...bearing(token), apikey: token })).toMatchObject({
    status: 401,
    body: { message: 'Invalid API key' },
  })
})

test.each([
  ['that has expired', () => tokenFor('custody', inSeconds(-60)), 401, 'PGRST303'],
  ['of another key', () => tokenFor('custody', inSeconds(60), createSigningKey()), 401, 'PGRST301'],
  ['that is none', () => 'custody', 401, 'PGRST301'],
  ['of a role that nobody granted', () => tokenFor('postgres'), 403, '42501'],
])('a token %s is refused', async (_what, token, status, code) => {
  expect(await ask(bearing(token()))).toMatchObject({ status, body: { code } })
})

/** Returns the product's reading of a call: `done`, the code of its refusal, or `failed`. */
async function call(token: string): Promise<string> {
  const access = { SUPABASE_URL: gateway.url, SUPABASE_API_KEY: project.apiKey }
  const product = openDatabase({ ...access, CUSTODY_DATABASE_KEY: token }, fetch)
  try {
    await product.call('custody_ready', {})
    return 'done'
  } catch (error) {
    if (!(error instanceof Rejection)) return 'failed'
    const { refusal, retryAfterSeconds = 0 } = error.refusal
    return `${refusal}, again in ${retryAfterSeconds} s`
  }
}

const html = { 'content-type': 'text/html; charset=UTF-8' }

test.each([
  ['521 with a page', { status: 521, headers: html, body: '<title>Web server is down</title>' }],
  ['544 with a page', { status: 544, headers: html, body: '<title>Timed out</title>' }],
  ['404 without a word', { status: 404, headers: {}, body: '' }],
  ['401 of an API key', { status: 401, headers: {}, body: '{"message":"Invalid API key"}' }],
])('a front that answers %s makes the database unavailable', async (_what, answer) => {
  front = answer

  const told = await call(tokenFor('custody'))

  front = undefined
  expect(told).toBe('unavailable, again in 5 s')
  expect(await call(tokenFor('custody'))).toBe('done')
})

test('a token that the database does not take makes it unavailable', async () => {
  expect(await call(tokenFor('custody', inSeconds(-60)))).toBe('unavailable, again in 5 s')
  expect(await call('none')).toBe('unavailable, again in 5 s')
})

test.each([
  ['57014', 'gives up on a statement'],
  ['55P03', 'gives up on a lock'],
  ['40001', 'cannot serialize it, try after try'],
  ['53300', 'has no connection left'],
])('a database that answers %s, because it %s, is unavailable', async (code) => {
  const body = JSON.stringify({ code, details: null, hint: null, message: 'busy' })
  front = { status: 500, headers: { 'content-type': 'application/json' }, body }

  const told = await call(tokenFor('custody'))

  front = undefined
  expect(told).toBe('unavailable, again in 5 s')
})

const custody = () => ask(bearing(tokenFor('custody')), 'made_later')

test('what was created is not known before the schema is read anew', async () => {
  await database.sql.unsafe(`create function api.made_later() returns int language sql as 'select 1';
    grant execute on function api.made_later to custody`)

  expect(await custody()).toMatchObject({ status: 404, body: { code: 'PGRST202' } })
  await reloadSchema(database.sql, async () => (await custody()).status === 200)
})

test('a function that says it only reads cannot write, by POST either', async () => {
  await database.sql.unsafe(`create table private.traces (id int);
    create function private.leave_trace() returns int language sql as
      'insert into private.traces values (1) returning id';
    create function api.writes_in_secret() returns int language plpgsql stable security definer as
      'begin return private.leave_trace(); end';
    grant execute on function api.writes_in_secret to custody`)
  const secret = () => ask(bearing(tokenFor('custody')), 'writes_in_secret')
  await reloadSchema(database.sql, async () => (await secret()).status !== 404)

  expect(await secret()).toMatchObject({ status: 405, body: { code: '25006' } })
})

test('an answer has a thousand rows at most', async () => {
  await database.sql.unsafe(`create function api.many() returns setof int language sql as
      'select generate_series(1, 1001)';
    grant execute on function api.many to custody`)
  const many = () => ask(bearing(tokenFor('custody')), 'many')
  await reloadSchema(database.sql, async () => (await many()).status === 200)

  expect((await many()).body).toHaveLength(1_000)
})

test('all roles share one pool: who waits keeps a connection from every other', async () => {
  await database.sql.unsafe(`create table private.held (id int);
    create function api.waits() returns void language sql security definer as
      'lock table private.held';
    grant execute on function api.waits to custody`)
  const waits = () => ask(bearing(tokenFor('custody')), 'waits')
  await reloadSchema(database.sql, async () => (await waits()).status === 204)
  const order: string[] = []
  const locked = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const held = database.sql.begin(async (tx) => {
    await tx`lock table private.held`
    locked.resolve()
    await done.promise
    order.push('released')
  })
  await locked.promise

  const calls = [waits(), waits()]
  const waiters = () => database.sql`select from pg_locks where not granted
    and database = (select oid from pg_database where datname = current_database())`
  await expect.poll(async () => (await waiters()).length).toBe(2)
  const others = ask(bearing(tokenFor('vault')), 'vault_ready').then(({ status }) => {
    order.push('the vault')
    return status
  })
  done.resolve()
  await held

  expect([await others, ...(await Promise.all(calls)).map(({ status }) => status)]).toEqual([
    204, 204, 204,
  ])
  expect(order).toEqual(['released', 'the vault'])
})
