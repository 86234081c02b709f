/**
 * The gateway answers as PostgREST's own test suite expects (test/spec/Feature/Query/RpcSpec.hs and
 * Auth/AuthSpec.hs of version 14, the facts alone): function, request and answer. Where the gateway
 * serves less than PostgREST, it refuses.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mintToken } from '../../scripts/local/database-keys.ts'
import {
  openTestDatabase,
  project,
  reloadSchema,
  signingKey,
  type TestDatabase,
} from '../support/database.ts'

const functions = `
create type api.enum as enum ('foo', 'bar');
create type api.point_2d as (x int, y int);
create domain api.small as int;
create sequence api.calls;
create function api.sayhello(name text) returns text language sql as $$ select 'Hello, ' || name $$;
create function api.add_them(a int, b int) returns int language sql as 'select a + b';
create function api.ret_array() returns int[] language sql as 'select array[1, 2, 3]';
create function api.ret_setof_integers() returns setof int language sql as 'values (1), (2), (3)';
create function api.ret_enum(val text) returns api.enum language sql as 'select val::api.enum';
create function api.ret_domain(val int) returns api.small language sql as 'select val::api.small';
create function api.ret_range(low int, up int) returns int4range language sql as 'select int4range(low, up)';
create function api.ret_scalars(out a text, out b api.enum, out c int, out d int4range)
  returns setof record language sql as $$ select 'scalars', 'foo'::api.enum, 1, int4range(10, 20) $$;
create function api.ret_point() returns api.point_2d language sql as 'select row(10, 5)::api.point_2d';
create function api.ret_void() returns void language sql as '';
create function api.ret_null() returns int language sql as 'select null::int';
create function api.empty_rowset() returns setof int language sql as 'select 1 where false';
create function api.varied("double" double precision, "varchar" varchar, "boolean" boolean, "date" date,
    "enum" api.enum, arr text[], "integer" int, "json" json default '{}', "jsonb" jsonb default '{}')
  returns json language sql as $$ select json_build_object('double', "double", 'varchar', "varchar",
    'boolean', "boolean", 'date', "date", 'enum', "enum", 'arr', arr, 'integer', "integer",
    'json', "json", 'jsonb', "jsonb") $$;
create function api.json_argument(arg json) returns text language sql as 'select json_typeof(arg)';
create function api.problem() returns void language plpgsql as $$ begin raise 'bad thing'; end $$;
create function api.asserts() returns void language plpgsql as $$ begin assert false; end $$;
create function api.callcounter() returns bigint language sql as $$ select nextval('api.calls') $$;
create function api.noparams() returns text language sql as $$ select 'nothing was given' $$;
create function api.test() returns table (test text, value int) language sql as $$ select 'hello', 1 $$;
create function api.single_out(num int, out num_plus_one int) language sql as 'select num + 1';
create function api.single_inout(inout num int) language sql as 'select num + 1';
create function api.many_inout(inout num int, inout str text, inout b bool default true)
  language sql as 'select num, str, b';
create function api.three_defaults(a int default 1, b int default 2, c int default 3) returns int
  language sql as 'select a + b + c';
create function api.overloaded() returns setof int language sql as 'values (1), (2), (3)';
create function api.overloaded(a int, b int) returns int language sql as 'select a + b';
create function api.overloaded(a text, b text, c text) returns text language sql as 'select a || b || c';
create function api.overloaded_same(arg int) returns int language sql as 'select arg';
create function api.overloaded_same(arg xml) returns xml language sql as 'select arg';
create function api.raise_pt402() returns void language plpgsql as $$ begin raise sqlstate 'PT402' using
  message = 'Payment Required', detail = 'Quota exceeded', hint = 'Upgrade your plan'; end $$;
create function api.raise_bad_pt() returns void language plpgsql as $$ begin
  raise sqlstate 'PT40A' using message = 'Wrong'; end $$;
create function api."quotedFunction"("user" text, "fullName" text, "SSN" text) returns json
  language sql as $$ select json_build_object('user', "user", 'fullName', "fullName", 'SSN', "SSN") $$;
grant execute on all functions in schema api to service_role;
grant usage on sequence api.calls to service_role;`

const varied = {
  double: 3.1,
  varchar: 'hello',
  boolean: true,
  date: '2019-01-01',
  enum: 'foo',
  arr: ['a', 'b', 'c'],
  integer: 43,
}
const quoted = { user: 'mscott', fullName: 'Michael Scott', SSN: '401-32-XXXX' }
const textOrNull: unknown = expect.toSatisfy((hint) => hint === null || typeof hint === 'string')
const failed = (code: string, message: string, details: string | null = null) => ({
  code,
  message,
  details,
  hint: textOrNull,
})

// biome-ignore format: one table, read by rows: path, body (none: GET), status, answer.
const cases: [path: string, body: unknown, status: number, answer: unknown][] = [
  ['sayhello', { name: 'world' }, 200, 'Hello, world'],
  ['sayhello', { name: '￥' }, 200, 'Hello, ￥'],
  ['sayhello?name=ignored&name=world', undefined, 200, 'Hello, world'],
  ['add_them?a=3&b=4', undefined, 200, 7],
  ['ret_array', {}, 200, [1, 2, 3]],
  ['ret_setof_integers', {}, 200, [1, 2, 3]],
  ['ret_enum', { val: 'foo' }, 200, 'foo'],
  ['ret_domain', { val: '8' }, 200, 8],
  ['ret_range', { low: 10, up: 20 }, 200, '[10,20)'],
  ['ret_scalars', {}, 200, [{ a: 'scalars', b: 'foo', c: 1, d: '[10,20)' }]],
  ['ret_point', {}, 200, { x: 10, y: 5 }],
  ['ret_void', {}, 204, ''],
  ['ret_null', {}, 200, null],
  ['empty_rowset', {}, 200, []],
  ['empty_rowset', undefined, 200, []],
  ['varied', { ...varied, json: { 'some key': 'some value' }, jsonb: { other: [1, 2, '3'] } }, 200,
    { ...varied, json: { 'some key': 'some value' }, jsonb: { other: [1, 2, '3'] } }],
  ['varied?double=3.1&varchar=hello&boolean=true&date=20190101&enum=foo&arr=%7Ba,b,c%7D&integer=43',
    undefined, 200, { ...varied, json: {}, jsonb: {} }],
  ['json_argument', { arg: { key: 3 } }, 200, 'object'],
  ['json_argument', { arg: '{ "key": 3 }' }, 200, 'string'],
  ['problem', {}, 400, failed('P0001', 'bad thing')],
  ['asserts', {}, 500, failed('P0004', 'assertion failed')],
  ['callcounter', {}, 200, 1],
  ['callcounter', {}, 200, 2],
  ['noparams', '', 200, 'nothing was given'],
  ['noparams', undefined, 200, 'nothing was given'],
  ['test', {}, 200, [{ test: 'hello', value: 1 }]],
  ['single_out?num=5', undefined, 200, { num_plus_one: 6 }],
  ['single_inout?num=2', undefined, 200, { num: 3 }],
  ['many_inout?num=1&str=two&b=false', undefined, 200, { num: 1, str: 'two', b: false }],
  ['many_inout?num=1&str=two', undefined, 200, { num: 1, str: 'two', b: true }],
  ['three_defaults?b=4', undefined, 200, 8],
  ['overloaded', undefined, 200, [1, 2, 3]],
  ['overloaded?a=1&b=2', undefined, 200, 3],
  ['overloaded?a=1&b=2&c=3', undefined, 200, '123'],
  ['quotedFunction', quoted, 200, quoted],
  ['raise_pt402', undefined, 402, { ...failed('PT402', 'Payment Required', 'Quota exceeded'), hint: 'Upgrade your plan' }],
  ['raise_bad_pt', undefined, 500, failed('PT40A', 'Wrong')],
  ['fake', undefined, 404, failed('PGRST202',
    'Could not find the function api.fake without parameters in the schema cache',
    'Searched for the function api.fake without parameters, but no matches were found in the schema cache.')],
  ['sayhello', { nam: 'Peter' }, 404, failed('PGRST202',
    'Could not find the function api.sayhello(nam) in the schema cache',
    'Searched for the function api.sayhello with parameter nam, but no matches were found in the schema cache.')],
  ['add_them', { a: 1, b: 2, smthelse: 'x' }, 404, failed('PGRST202',
    'Could not find the function api.add_them(a, b, smthelse) in the schema cache',
    'Searched for the function api.add_them with parameters a, b, smthelse, but no matches were found in the schema cache.')],
  ['overloaded_same?arg=1', undefined, 300, failed('PGRST203',
    'Could not choose the best candidate function between: api.overloaded_same(arg => integer), api.overloaded_same(arg => xml)')],
  ['sayhello?name=John', { name: 'John' }, 400, expect.objectContaining({ code: 'PGRST100' })],
  ['sayhello', 'sdfsdf', 400, expect.objectContaining({ code: 'PGRST102' })],
]

let database: TestDatabase
const token = mintToken(signingKey, { role: 'service_role', expiresAtSeconds: 9_999_999_999 })

beforeAll(async () => {
  database = await openTestDatabase()
  await database.sql.unsafe(functions)
  await reloadSchema(database.sql, async () => (await ask('ret_null', {})).status === 200)
})
afterAll(() => database.close())

async function ask(
  path: string,
  body: unknown,
  authorization = `Bearer ${token}`,
  method = 'POST',
) {
  const profile = body === undefined ? 'accept-profile' : 'content-profile'
  const answer = await fetch(`${database.gatewayUrl}/rest/v1/rpc/${path}`, {
    method: body === undefined ? 'GET' : method,
    headers: { apikey: project.apiKey, authorization, [profile]: 'api' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  const content: unknown = text && JSON.parse(text)
  return { status: answer.status, headers: answer.headers, body: content }
}

test.each(cases)('%s with %j is answered %i', async (path, body, status, expected) => {
  const { headers: _, ...answer } = await ask(path, body)

  expect(answer).toEqual({ status, body: expected })
})

test('an answer without content has no type and no length', async () => {
  const { headers } = await ask('ret_void', {})

  expect([headers.get('content-type'), headers.get('content-length')]).toEqual([null, null])
})

test.each(['DELETE', 'PATCH'])('%s is no method of functions', async (method) => {
  expect(await ask('sayhello', { name: 'x' }, `Bearer ${token}`, method)).toMatchObject({
    status: 405,
    body: { code: 'PGRST101', message: `Cannot use the ${method} method on RPC` },
  })
})

const role = 'service_role'

test.each([
  ['Bearer ', 'PGRST301', 'Empty JWT is sent in Authorization header'],
  ['Bearer one', 'PGRST301', 'Expected 3 parts in JWT; got 1'],
  ['Bearer one.two', 'PGRST301', 'Expected 3 parts in JWT; got 2'],
  [
    `Bearer ${mintToken(signingKey, { role, expiresAtSeconds: 1_446_678_149 })}`,
    'PGRST303',
    'JWT expired',
  ],
])('a token in %s is refused by %s', async (authorization, code, message) => {
  const { status, headers, body } = await ask('ret_null', {}, authorization)

  expect({ status, body }).toEqual({
    status: 401,
    body: { code, message, details: null, hint: null },
  })
  expect(headers.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", error_description="${message}"`,
  )
})

test('the scheme of a token may be written small', async () => {
  expect((await ask('ret_null', {}, `bearer ${token}`)).status).toBe(200)
})
