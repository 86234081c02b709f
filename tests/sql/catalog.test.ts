/**
 * Every table and function follows these rules. The tests read the catalog of the migrated database, so
 * a new migration cannot miss one.
 */
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../support/database.ts'

// Functions without a caller: before an account exists or anybody has signed in, or for custody, the
// mailer, incoming mail, the rotation of keys, the schedule and the health checks.
const withoutCredential =
  /^(check_aliases|custody_(open_account|withdraw|set_aside|record|record_claim|cancel|record_cancel|record_replacement|claim|load_slot|ready)|vault_ready|newest_mails|spend_remote_call|(housekeeping|mailer|login|link|signup|inbound|rotation|oauth|health)_[a-z_]+)$/

let database: { url: string; drop(): Promise<void> }
let sql: Sql

beforeAll(async () => {
  database = await createDatabase()
  sql = postgres(database.url, { max: 1 })
})

afterAll(async () => {
  await sql.end({ timeout: 1 })
  await database.drop()
})

async function functionsWhere(condition: string): Promise<string[]> {
  const rows = await sql.unsafe<{ signature: string }[]>(`
    select n.nspname || '.' || p.proname as signature
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname in ('api', 'private') and (${condition}) order by 1`)
  return rows.map(({ signature }) => signature)
}

test('the catalog that the rules are asked of holds functions and tables', async () => {
  expect(await functionsWhere('p.prosecdef')).toContain('api.begin_payment')
})

test('every definer function has an empty search_path', async () => {
  const withEmptyPath = `'search_path=""' = any(coalesce(p.proconfig, '{}'))`

  expect(await functionsWhere(`p.prosecdef and not ${withEmptyPath}`)).toEqual([])
})

test('no function is executable by public, anon or authenticated', async () => {
  const executable = ['anon', 'authenticated'].map(
    (role) => `has_function_privilege('${role}', p.oid, 'execute')`,
  )
  const byPublic = `exists (select from aclexplode(coalesce(p.proacl,
    acldefault('f', p.proowner))) a where a.grantee = 0)`

  expect(await functionsWhere([...executable, byPublic].join(' or '))).toEqual([])
})

test('service_role, custody and vault execute nothing in the private schema', async () => {
  const executable = ['service_role', 'custody', 'vault'].map(
    (role) => `has_function_privilege('${role}', p.oid, 'execute')`,
  )

  expect(await functionsWhere(`n.nspname = 'private' and (${executable.join(' or ')})`)).toEqual([])
})

test('only vault is told sealed entries, mails, codes and the keys of accounts', async () => {
  const told = await functionsWhere(`n.nspname = 'api'
    and p.prosrc ~ 'sealed_head|sealed_body|mail_attachments|account_keys?\\M|private.mail_json'
    and not has_function_privilege('vault', p.oid, 'execute')`)
  const byOthers = await functionsWhere(`n.nspname = 'api'
    and has_function_privilege('vault', p.oid, 'execute')
    and (has_function_privilege('service_role', p.oid, 'execute')
      or has_function_privilege('custody', p.oid, 'execute'))`)

  expect([...told, ...byOthers]).toEqual([])
})

test('vault reaches nothing but secrets and mail', async () => {
  const executable = await functionsWhere(`has_function_privilege('vault', p.oid, 'execute')`)
  const own = /^api\.((vault|inbound|rotation)_|link_(login_asked|store_login)$|.*mails?(_|$))/

  expect(executable.length).toBeGreaterThan(10)
  expect(executable.filter((name) => !own.test(name))).toEqual([])
})

test('no API role has a right on the private schema or on any table', async () => {
  const rows = await sql`
    select role, c.oid::regclass::text as relation
      from unnest(array['anon', 'authenticated', 'service_role', 'custody', 'vault']) role,
           pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('api', 'private') and c.relkind in ('r', 'p', 'v', 'm')
       and (has_table_privilege(role, c.oid, 'select, insert, update, delete')
         or has_schema_privilege(role, 'private', 'usage'))`

  expect([...rows]).toEqual([])
})

test('every table has row level security', async () => {
  const rows = await sql`
    select c.oid::regclass::text as relation
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('api', 'private') and c.relkind in ('r', 'p') and not c.relrowsecurity`

  expect([...rows]).toEqual([])
})

test('no exposed function takes an account that a caller could swap', async () => {
  const takesAccount = `n.nspname = 'api' and p.proargnames && '{account,account_id}'
    and exists (select from unnest(p.proargnames, p.proargmodes) a (name, mode)
      where a.name in ('account', 'account_id') and coalesce(a.mode, 'i') in ('i', 'b', 'v'))`

  expect(await functionsWhere(takesAccount)).toEqual([])
})

test('every exposed function takes the credential first, or acts for no caller', async () => {
  const without = await functionsWhere(`n.nspname = 'api' and not coalesce(
    p.proargnames[1] = 'credential' and p.proargtypes[0] = 'text'::regtype, false)`)

  expect(without.filter((name) => !withoutCredential.test(name.replace('api.', '')))).toEqual([])
})

test('no exposed function has two versions', async () => {
  const rows = await sql`
    select proname from pg_proc where pronamespace = 'api'::regnamespace
     group by proname having count(*) > 1`

  expect([...rows]).toEqual([])
})
