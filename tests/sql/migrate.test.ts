import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres, { type Sql } from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeFunctions } from '../../scripts/generate/functions.ts'
import { embeddedBinaries15, startEmbeddedPostgres } from '../../scripts/local/postgres.ts'
import { migrate } from '../../scripts/migrate.ts'
import { catalogOf } from '../support/catalog.ts'
import { createDatabase } from '../support/database.ts'

const migrations = fileURLToPath(new URL('../../supabase/migrations', import.meta.url))

let database: Awaited<ReturnType<typeof createDatabase>>
let sql: Sql
let directory: string

beforeEach(async () => {
  database = await createDatabase()
  sql = postgres(database.url, { max: 1, onnotice() {} })
  directory = mkdtempSync(join(tmpdir(), 'aoa-migrations-'))
  cpSync(migrations, directory, { recursive: true })
})

afterEach(async () => {
  await sql.end({ timeout: 1 })
  await database.drop()
  rmSync(directory, { recursive: true, force: true })
})

function add(file: string, text: string) {
  writeFileSync(join(directory, file), text)
}

async function waitingForLocks(): Promise<number> {
  const rows = await sql`select from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`
  return rows.length
}

test('PostgREST is told to read its functions anew, but only of a change', async () => {
  const told: string[] = []
  const listener = postgres(database.url, { max: 1, onnotice() {} })
  await listener.listen('pgrst', (payload) => told.push(payload))
  await migrate(database.url, directory)
  add('29990101000000_more.sql', 'create function api.more() returns int return 1;')

  await migrate(database.url, directory)

  await expect.poll(() => told).toEqual(['reload schema'])
  await listener.end({ timeout: 1 })
})

test('a second run changes nothing', async () => {
  const before = await catalogOf(sql)

  const applied = await migrate(database.url, directory)

  expect(applied).toEqual([])
  expect(await catalogOf(sql)).toEqual(before)
})

test('a new migration is applied once, by whichever of two runs comes first', async () => {
  add(
    '20990101000001_first.sql',
    'select pg_advisory_xact_lock(7); create table private.a (id int);',
  )
  add('20990101000002_second.sql', 'create table private.b (id int);')
  await sql`select pg_advisory_lock(7)`

  const both = Promise.all([migrate(database.url, directory), migrate(database.url, directory)])
  await expect.poll(waitingForLocks).toBe(2)
  await sql`select pg_advisory_unlock(7)`
  const runs = await both

  expect(runs.flat()).toEqual(['20990101000001', '20990101000002'])
})

test('records what the Supabase command line records, and accepts what that tool recorded', async () => {
  const text = 'create table private.split (id int);\n\ncreate index on private.split (id);\n'
  add('20990101000001_split.sql', text)
  await migrate(database.url, directory)

  const [row] = await sql`select name, statements from supabase_migrations.schema_migrations
    where version = '20990101000001'`
  const split = ['create table private.split (id int)', 'create index on private.split (id)']
  await sql`update supabase_migrations.schema_migrations set statements = ${split}
    where version = '20990101000001'`

  expect(row).toEqual({ name: 'split', statements: [text] })
  expect(await migrate(database.url, directory)).toEqual([])
})

test('a failing migration leaves nothing behind', async () => {
  add('20990101000001_half.sql', 'create table private.half (id int); select 1 / 0;')

  await expect(migrate(database.url, directory)).rejects.toThrow('20990101000001_half failed')

  const [row] = await sql`select to_regclass('private.half') as half`
  expect(row).toEqual({ half: null })
})

test('refuses an edited, a missing and a late migration', async () => {
  const files = readdirSync(directory).toSorted()
  const first = files[0] ?? ''
  const original = mkdtempSync(join(tmpdir(), 'aoa-migrations-'))
  cpSync(directory, original, { recursive: true })

  add(first, 'select 1;')
  await expect(migrate(database.url, directory)).rejects.toThrow('begin with an empty database')
  rmSync(join(directory, first))
  await expect(migrate(database.url, directory)).rejects.toThrow('its file is missing')
  cpSync(original, directory, { recursive: true })
  add('20200101000001_late.sql', 'select 1;')
  await expect(migrate(database.url, directory)).rejects.toThrow('give it a newer version')
  rmSync(original, { recursive: true })
})

test('the migrations make the same schema on PostgreSQL 15', async () => {
  const data = mkdtempSync(join(tmpdir(), 'aoa-postgres15-'))
  const options = { directory: data, durable: false, binaries: embeddedBinaries15() }
  const server = await startEmbeddedPostgres(options)
  const older = postgres(server.url, { max: 1, onnotice() {} })
  try {
    await migrate(server.url)

    const [version] =
      await older`select current_setting('server_version_num')::int / 10000 as major`
    expect(version).toEqual({ major: 15 })
    expect(await catalogOf(older)).toEqual(await catalogOf(sql))
    expect(await describeFunctions(older)).toBe(await describeFunctions(sql))
  } finally {
    await older.end({ timeout: 1 })
    await server.stop()
    rmSync(data, { recursive: true, force: true })
  }
})
