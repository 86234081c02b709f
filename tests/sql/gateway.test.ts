/**
 * The gateway answers an unmodified supabase-js as PostgREST does. Expected answers come from
 * PostgREST's manual ("Errors", "Functions as RPC"), not from the gateway.
 */
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  clientOf,
  openTestDatabase,
  project,
  reloadSchema,
  type TestDatabase,
} from '../support/database.ts'

const probes = `
create function api.add(a int, b int default 10) returns int language sql stable as 'select a + b';
create function api.echo(n numeric, big bigint default null, words text[] default '{}', doc jsonb default null)
  returns table (n_text text, n numeric, big_text text, words text[], doc jsonb)
  language sql as 'select n::text, n, big::text, words, doc';
create function api.series(upto int) returns setof int language sql as 'select generate_series(1, upto)';
create function api.pairs(upto int) returns table (k int) language sql as 'select generate_series(1, upto)';
create function api.nothing() returns void language sql as '';
create function api.whoami() returns jsonb language sql as $$
  select jsonb_build_object('role', current_user, 'path', current_setting('search_path'),
    'claims', current_setting('request.jwt.claims')::jsonb,
    'timeout', current_setting('statement_timeout')) $$;
create function api.boom(code text, message text default 'm', detail text default 'd', hint text default 'h')
  returns void language plpgsql as $$
  begin raise exception using errcode = code, message = boom.message, detail = boom.detail, hint = boom.hint; end $$;
create function api.dressed() returns text language sql as $$
  select set_config('response.status', '202', true);
  select set_config('response.headers', '[{"x-kept": "yes"}]', true);
  select 'ok' $$;
create table api.notes (id int primary key);
create table api.others (id int primary key);
create function api.other(id int) returns int language sql as 'insert into api.others values (id) returning id';
create function api.note(id int) returns int language sql as 'insert into api.notes values (id) returning id';
create function api.twin(x int) returns int language sql as 'select x';
create function api.twin(x int, y int default 0) returns int language sql as 'select y';
grant all on api.notes, api.others to service_role;
grant execute on all functions in schema api to service_role;
grant usage on schema api to anon;`

let database: TestDatabase
let observer: Sql

beforeAll(async () => {
  database = await openTestDatabase()
  observer = postgres(database.url, { max: 1 })
  await database.sql.unsafe(probes)
  await reloadSchema(database.sql, async () => (await service().rpc('nothing')).status === 204)
})

afterAll(async () => {
  await observer.end({ timeout: 1 })
  await database.close()
})

function service(token = project.tokens.service_role, schema = 'api') {
  return clientOf(database.gatewayUrl, token, schema)
}

function statusOf(answer: { status: number }): number {
  return answer.status
}

function post(name: string, body: string, headers: Record<string, string> = {}) {
  return fetch(`${database.gatewayUrl}/rest/v1/rpc/${name}`, {
    method: 'POST',
    headers: {
      apikey: project.apiKey,
      authorization: `Bearer ${project.tokens.service_role}`,
      'content-type': 'application/json',
      ...headers,
    },
    body,
  })
}

test('answers values, lists, rows and nothing as PostgREST does', async () => {
  const client = service()

  expect(await client.rpc('add', { a: 1 })).toMatchObject({ status: 200, data: 11 })
  expect(await client.rpc('series', { upto: 3 })).toMatchObject({ data: [1, 2, 3] })
  expect(await client.rpc('series', { upto: 0 })).toMatchObject({ status: 200, data: [] })
  expect(await client.rpc('pairs', { upto: 2 })).toMatchObject({ data: [{ k: 1 }, { k: 2 }] })
  expect(await client.rpc('nothing')).toMatchObject({ status: 204, data: null, error: null })
})

test('answers one object for single() and refuses any other number of rows', async () => {
  const client = service()

  expect(await client.rpc('pairs', { upto: 1 }).single()).toMatchObject({ data: { k: 1 } })
  for (const rows of [0, 2]) {
    expect(await client.rpc('pairs', { upto: rows }).single()).toMatchObject({
      status: 406,
      error: { code: 'PGRST116', details: `The result contains ${rows} rows` },
    })
  }
  expect(await client.rpc('pairs', { upto: 0 }).maybeSingle()).toMatchObject({
    data: null,
    error: null,
  })
})

test('answers GET and HEAD, and writes nothing on their behalf', async () => {
  const client = service()

  expect(await client.rpc('add', { a: 3, b: 4 }, { get: true })).toMatchObject({ data: 7 })
  expect(await client.rpc('add', { a: 3, b: 4 }, { head: true })).toMatchObject({ status: 200 })
  const written = await client.rpc('note', { id: 1 }, { get: true })

  expect(written).toMatchObject({ status: 405, error: { code: '25006' } })
  expect(await database.sql`select from api.notes`).toHaveLength(0)
})

test('money given and taken as text keeps every digit', async () => {
  const exact = '999999999999999999999999999988.000000000000000001'

  const { data } = await service()
    .rpc('echo', { n: exact, big: '9007199254740993', words: ['a', 'ü"'], doc: { z: [1, null] } })
    .single()

  expect(data).toMatchObject({
    n_text: exact,
    big_text: '9007199254740993',
    words: ['a', 'ü"'],
    doc: { z: [1, null] },
  })
})

test('a JSON number keeps every digit on the wire in both directions', async () => {
  const response = await post('echo', '{"n":9007199254740993.000000000000000001}')

  expect(await response.text()).toContain('"n":9007199254740993.000000000000000001')
})

// SQLSTATE -> HTTP status, from PostgREST's manual, "Errors".
// biome-ignore format: one table, read by rows.
const statuses: Record<string, number> = {
  '08006': 503, '09000': 500, '0L000': 403, '0P000': 403, '21000': 500, '22023': 400, '22P02': 400,
  '23502': 400, '23503': 409, '23505': 409, '23514': 400, '25000': 500, '25006': 405, '28000': 403,
  '2D000': 500, '38000': 500, '39000': 500, '3B000': 500, '40001': 500, '40P01': 500, '42501': 403,
  '42601': 400, '42883': 404, '42P01': 404, '42P17': 500, '53300': 503, '53400': 500, '54000': 500,
  '55P03': 500, '57014': 500, '57P01': 503, '58000': 500, F0000: 500, HV000: 500, P0001: 400,
  P0002: 500, PT402: 402, PT418: 418, PTXYZ: 500, XX000: 500,
}

test.each(Object.entries(statuses))('SQLSTATE %s becomes HTTP %i', async (code, expected) => {
  const answer = await service().rpc('boom', { code })

  expect(answer).toMatchObject({
    status: expected,
    error: { code, message: 'm', details: 'd', hint: 'h' },
  })
})

test('a function dresses its answer, or raises a whole one', async () => {
  const dressed = await post('dressed', '{}')
  const raised = await post(
    'boom',
    JSON.stringify({
      code: 'PGRST',
      message: '{"code":"own","message":"mine"}',
      detail: '{"status":451,"headers":{"x-own":"1"}}',
    }),
  )

  expect([dressed.status, dressed.headers.get('x-kept')]).toEqual([202, 'yes'])
  expect([raised.status, raised.headers.get('x-own')]).toEqual([451, '1'])
  expect(await raised.json()).toEqual({ code: 'own', details: null, hint: null, message: 'mine' })
})

test('refuses what it cannot match to one function', async () => {
  const client = service()

  expect(await client.rpc('absent')).toMatchObject({ status: 404, error: { code: 'PGRST202' } })
  expect(await client.rpc('add', { a: 1, c: 1 })).toMatchObject({ error: { code: 'PGRST202' } })
  expect(await client.rpc('add', { b: 1 })).toMatchObject({ error: { code: 'PGRST202' } })
  expect(await client.rpc('twin', { x: 1 })).toMatchObject({
    status: 300,
    error: { code: 'PGRST203' },
  })
  expect(await client.rpc('add', { a: 'x' })).toMatchObject({ error: { code: '22P02' } })
})

test.each([
  ['no JSON', '{', 400],
  ['a list', '[]', 400],
  ['more than a mebibyte', JSON.stringify({ a: 'x'.repeat(1_048_577) }), 413],
])('refuses a body that is %s', async (_what, body, expected) => {
  expect(await post('add', body).then(statusOf)).toBe(expected)
})

test('serves the exposed schema alone', async () => {
  const other = await service(project.tokens.service_role, 'private').rpc('clock')

  expect(other).toMatchObject({ status: 406, error: { code: 'PGRST106' } })
})

test('each token acts as its role and nothing else', async () => {
  const anonymous = await service(project.apiKey).rpc('add', { a: 1 })
  const custody = await service(project.tokens.custody).rpc('add', { a: 1 })

  expect((await service().rpc('whoami')).data).toEqual({
    role: 'service_role',
    path: '"api"',
    claims: { role: 'service_role' },
    timeout: '8s',
  })
  expect(anonymous).toMatchObject({ status: 401, error: { code: '42501' } })
  expect(custody).toMatchObject({ status: 403, error: { code: '42501' } })
})

function holdTable(table: string) {
  const release = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const done = database.sql.begin(async (tx) => {
    await tx.unsafe(`lock table ${table}`)
    locked.resolve()
    await release.promise
  })
  const end = async () => {
    release.resolve()
    await done
  }
  return { locked: locked.promise, end }
}

async function callsWaiting(): Promise<number> {
  const rows = await observer`select from pg_locks where relation is not null and not granted
    and database = (select oid from pg_database where datname = current_database())`
  return rows.length
}

test('a call that waits for a lock holds up no call behind it', async () => {
  const client = service()
  // Only a statement that the connection has prepared before can be pipelined behind another one.
  await Promise.all(Array.from({ length: 40 }, (_, id) => client.rpc('note', { id })))
  const [notes, others] = [holdTable('api.notes'), holdTable('api.others')]
  await Promise.all([notes.locked, others.locked])

  // All four connections wait: one for a lock that is released soon, three for the other lock.
  const blocked = [101, 102, 103].map((id) => client.rpc('note', { id }).then(statusOf))
  await expect.poll(callsWaiting).toBe(3)
  const soon = client.rpc('other', { id: 1 }).then(statusOf)
  await expect.poll(callsWaiting).toBe(4)
  const free = client.rpc('add', { a: 1 }).then(statusOf)
  await client.rpc('absent')
  await others.end()

  expect(await Promise.all([soon, free])).toEqual([200, 200])
  await notes.end()
  expect(await Promise.all(blocked)).toEqual([200, 200, 200])
})
