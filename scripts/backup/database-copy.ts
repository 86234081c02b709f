/**
 * All rows of the database as one snapshot: a line that describes it, then each table as a line that names it
 * and its rows in the text format of COPY.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import * as z from 'zod'
import { migrate } from '../migrate.ts'

const headSchema = z.object({
  made_at: z.string(),
  /** Migrations that had been applied, so that any later version of the product can restore it. */
  migrations: z.array(z.object({ version: z.string(), name: z.string(), text: z.string() })),
  sequences: z.array(z.object({ name: z.string(), last: z.string() })),
  /** Files beside the database, by their names. */
  files: z.record(z.string(), z.string()),
})
/** Description of a copy. */
export type Head = z.output<typeof headSchema>

const tableSchema = z.object({ name: z.string(), columns: z.string() })

/** Ends the rows of a table; a row never begins with it, because COPY escapes the backslash. */
const endOfTable = Buffer.from('\\.\n')

// Rows of an unlogged table are lost at a crash, too.
const tablesQuery = `
select c.oid::regclass::text as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid
 where c.relnamespace = 'private'::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
   and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
 group by c.oid order by 1`

/** Runs work with one connection of the database's owner. */
async function connected<Result>(url: string, work: (sql: Sql) => Promise<Result>) {
  const sql = postgres(url, { max: 1, onnotice() {}, connection: { search_path: '' } })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Passes on a copy of the database as it is now, while others use it. */
export function copyDatabase(
  url: string,
  files: Head['files'],
  use: (content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  return connected(url, async (sql) => {
    await sql.begin('isolation level repeatable read read only', (tx) => use(copyOf(tx, files)))
  })
}

async function* copyOf(tx: TransactionSql, files: Head['files']): AsyncGenerator<Buffer> {
  const [made] = await tx<{ at: string }[]>`select private.clock()::text as at`
  const migrations = await tx`
    select version, name, array_to_string(statements, ';') as text
      from supabase_migrations.schema_migrations order by version`
  const sequences = await tx`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as last
      from pg_sequences where schemaname = 'private' and last_value is not null`
  yield lineOf(headSchema.parse({ made_at: made?.at, migrations, sequences, files }))
  for (const table of z.array(tableSchema).parse(await tx.unsafe(tablesQuery))) {
    yield lineOf(table)
    yield* await tx.unsafe(`copy ${table.name} (${table.columns}) to stdout`).readable()
    yield endOfTable
  }
}

function lineOf(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

/** A copy that is read: its description, and the lines that follow. */
export type OpenedCopy = { head: Head; lines: AsyncGenerator<Buffer> }

/** Reads the description of a copy. */
export async function openCopy(content: AsyncIterable<Buffer>): Promise<OpenedCopy> {
  const lines = linesOf(content)
  const first = await lines.next()
  return { head: headSchema.parse(JSON.parse(String(first.value))), lines }
}

/**
 * Replaces all rows of a database by those of a copy, and marks it as restored, in one transaction. The database
 * may be empty, or have the migrations of the copy.
 */
export async function loadDatabase(url: string, { head, lines }: OpenedCopy): Promise<void> {
  await migrateTo(url, head.migrations)
  await connected(url, (sql) =>
    sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`
      const tables = z.array(tableSchema).parse(await tx.unsafe(tablesQuery))
      await tx.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`)
      for await (const line of lines) {
        const { name, columns } = tableSchema.parse(JSON.parse(String(line)))
        const rows = await tx.unsafe(`copy ${name} (${columns}) from stdin`).writable()
        await pipeline(rowsOf(lines), rows)
      }
      for (const { name, last } of head.sequences) await tx`select setval(${name}, ${last}::bigint)`
      await tx`set local session_replication_role = origin`
      await tx`select private.mark_restored(${head.made_at}::timestamptz)`
    }),
  )
}

async function migrateTo(url: string, migrations: Head['migrations']): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'migrations-'))
  try {
    for (const { version, name, text } of migrations) {
      writeFileSync(join(directory, `${version}_${name}.sql`), text)
    }
    await migrate(url, directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function* rowsOf(lines: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    if (endOfTable.equals(next.value)) return
    yield next.value
  }
  throw new Error('the backup ends within a table')
}

async function* linesOf(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  for await (const chunk of content) {
    const bytes = Buffer.concat([rest, chunk])
    let from = 0
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
      yield bytes.subarray(from, at + 1)
      from = at + 1
    }
    rest = bytes.subarray(from)
  }
}
