/**
 * Applies supabase/migrations in order, each in one transaction, and records them in the table that the
 * Supabase command line uses, so that either tool can continue where the other stopped.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { connectTo } from './program/connect.ts'

const lockTimeoutMilliseconds = 60_000
// Any number will do, if it is the same in every copy of this program.
const advisoryLock = 20_261_121

const defaultDirectory = fileURLToPath(new URL('../supabase/migrations', import.meta.url))

type Migration = { version: string; name: string; text: string }
type AppliedMigration = { version: string; statements: string[] | null }

/** Brings the database up to date and returns the versions that it applied. */
export async function migrate(url: string, directory = defaultDirectory): Promise<string[]> {
  const migrations = readMigrations(directory)
  const sql = connectTo(url)
  try {
    await sql.unsafe(`set lock_timeout = ${lockTimeoutMilliseconds}`)
    await sql`select pg_advisory_lock(${advisoryLock})`
    await bootstrap(sql)
    const pending = pendingMigrations(migrations, await readApplied(sql))
    for (const migration of pending) await apply(sql, migration)
    // PostgREST reads the list of functions once, and again only when it is notified.
    if (pending.length > 0) await sql`notify pgrst, 'reload schema'`
    return pending.map(({ version }) => version)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Returns the versions that `migrate` would apply, and changes nothing. */
export async function pendingVersions(
  url: string,
  directory = defaultDirectory,
): Promise<string[]> {
  const sql = connectTo(url)
  try {
    const [row] = await sql<{ is_known: boolean }[]>`
      select to_regclass('supabase_migrations.schema_migrations') is not null as is_known`
    const applied = row?.is_known ? await readApplied(sql) : []
    return pendingMigrations(readMigrations(directory), applied).map(({ version }) => version)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

function readMigrations(directory: string): Migration[] {
  const files = readdirSync(directory).filter((file) => file.endsWith('.sql'))
  return files.toSorted().map((file) => {
    const [, version, name] = /^(\d{14})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
    if (!version || !name) throw new Error(`${file} is not named <14 digits>_<name>.sql`)
    return { version, name, text: readFileSync(join(directory, file), 'utf8') }
  })
}

// A hosted Supabase has these roles before the first migration, a bare PostgreSQL does not. Roles
// belong to the whole server, so another database may be creating the same ones at this moment.
async function bootstrap(sql: Sql) {
  await sql.unsafe(`
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.schema_migrations (version text primary key);
    alter table supabase_migrations.schema_migrations
      add column if not exists statements text[], add column if not exists name text;
    do $$
    declare
      stock text[] := array['anon nologin noinherit', 'authenticated nologin noinherit',
        'service_role nologin noinherit bypassrls', 'authenticator login noinherit'];
      definition text;
      missing boolean := false;
    begin
      foreach definition in array stock loop
        if to_regrole(split_part(definition, ' ', 1)) is null then
          missing := true;
          begin
            execute 'create role ' || definition;
          exception when duplicate_object or unique_violation then
            null;
          end;
        end if;
      end loop;
      if missing then
        grant anon, authenticated, service_role to authenticator;
      end if;
    end $$;`)
}

async function readApplied(sql: Sql): Promise<AppliedMigration[]> {
  return sql<AppliedMigration[]>`
    select version, statements from supabase_migrations.schema_migrations order by version`
}

function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  for (const [index, { version, statements }] of applied.entries()) {
    const migration = migrations[index]
    if (migration?.version !== version) throw new Error(explainGap(version, migrations))
    if (statements && essence(statements.join('')) !== essence(migration.text)) {
      throw new Error(
        `migration ${version} was changed after it was applied; add a new one instead, or, if it was never released, begin with an empty database`,
      )
    }
  }
  return migrations.slice(applied.length)
}

function explainGap(version: string, migrations: readonly Migration[]): string {
  return migrations.some((migration) => migration.version === version)
    ? `a migration older than ${version}, which is applied, was added; give it a newer version`
    : `migration ${version} is applied, but its file is missing`
}

// Supabase's tool records a file as separate statements, this one as a whole. The two differ only in
// white space and semicolons.
function essence(text: string): string {
  return text.replaceAll(/[\s;]/g, '')
}

async function apply(sql: Sql, { version, name, text }: Migration) {
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(text)
      await tx`insert into supabase_migrations.schema_migrations (version, name, statements)
        values (${version}, ${name}, ${[text]})`
    })
  } catch (error) {
    throw new Error(`migration ${version}_${name} failed: ${String(error)}`, { cause: error })
  }
}

const help = `node scripts/migrate.ts [database url]

Applies supabase/migrations to the database, by default the one that DATABASE_URL names.`

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  })
  const url = positionals[0] ?? process.env.DATABASE_URL
  if (values.help) {
    console.log(help)
  } else if (!url) {
    console.error(help)
    process.exitCode = 2
  } else {
    const applied = await migrate(url)
    console.log(applied.length ? `applied ${applied.join(', ')}` : 'nothing to apply')
  }
}
