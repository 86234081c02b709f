/**
 * The real SQL functions, called by name with named arguments over one connection. A refusal is returned as
 * a value; any other database error ends the run.
 */
import postgres from 'postgres'
import * as z from 'zod'
import { movableClock } from '../clock.ts'
import { createDatabase } from '../database.ts'
import { randomBytes } from '../seed.ts'

const rowSchema = z.record(z.string(), z.unknown())
export type Row = z.output<typeof rowSchema>

/** Returns the content of a JSON column. */
export const fieldsOf = (value: unknown): Row => rowSchema.catch({}).parse(value)

const rows = z.array(rowSchema)
/** Returns the content of a column with a list. */
export const rowsOf = (value: unknown): Row[] => rows.catch([]).parse(value)

/** Returns a JSON column without one of its fields, or null if it is null. */
export function without(name: string, value: unknown): Row | null {
  const { [name]: _, ...rest } = fieldsOf(value)
  return value === null || value === undefined ? null : rest
}

export type Answer = Row[] | { refused: string }

export type Ledger = {
  call(name: string, args: Record<string, unknown>): Promise<Answer>
  /** Runs SQL that bypasses the functions, to inspect or prepare data. */
  query(text: string, args?: unknown[]): Promise<Row[]>
  setClock(seconds: number): Promise<void>
  /** Empties every table. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** Deletes row by row, since truncating some fifty nearly empty tables takes far longer. */
const emptying = `
create function testing.empty_tables() returns void language plpgsql as $$
declare
  emptied text;
begin
  set local session_replication_role = replica;
  for emptied in select tablename from pg_tables where schemaname = 'private' loop
    execute format('delete from private.%I', emptied);
  end loop;
  set local session_replication_role = origin;
end $$;`

/** Opens a database of its own, whose time stands still unless it is set. */
export async function openLedger(): Promise<Ledger> {
  const { url, drop } = await createDatabase()
  const bigint = { to: 20, from: [20], parse: Number, serialize: String }
  const sql = postgres(url, { max: 1, onnotice() {}, types: { bigint } })
  await sql.unsafe(`${movableClock} select testing.stop_clock(now());`)
  const query: Ledger['query'] = async (text, args = []) =>
    rows.parse([
      ...(await sql.unsafe(
        text,
        args.map((value) => parameter.parse(value)),
        { prepare: true },
      )),
    ])
  await sql.unsafe(emptying)
  return {
    query,
    call: async (name, args) => {
      const names = Object.keys(args).map((key, at) => `${key} => $${at + 1}`)
      try {
        return await query(`select * from api.${name}(${names.join(', ')})`, Object.values(args))
      } catch (error) {
        if (error instanceof postgres.PostgresError && error.code.startsWith('PT')) {
          return { refused: error.message }
        }
        throw error
      }
    },
    setClock: async (seconds) => {
      await query('select testing.stop_clock(to_timestamp($1))', [seconds])
    },
    clear: async () => {
      await query('select testing.empty_tables()')
    },
    close: async () => {
      await sql.end({ timeout: 1 })
      await drop()
    },
  }
}

const parameter = z.custom<postgres.ParameterOrJSON<never>>()

/** Returns a unique text for ids that the test chooses. */
export const newDigest = () => randomBytes(32).toString('hex')
