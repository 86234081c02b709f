/**
 * The real SQL functions, called by name with named arguments over one connection. What they refuse
 * is a value; any other error of the database ends the run.
 */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import * as z from 'zod'
import { movableClock } from '../clock.ts'
import { createDatabase } from '../database.ts'

const rowSchema = z.record(z.string(), z.unknown())
export type Row = z.output<typeof rowSchema>

/** What stands in a column of JSON. */
export const fieldsOf = (value: unknown): Row => rowSchema.catch({}).parse(value)

const rows = z.array(rowSchema)
/** What stands in a column of a list. */
export const rowsOf = (value: unknown): Row[] => rows.catch([]).parse(value)

/** A column of JSON without one of its fields; null where it is null. */
export function without(name: string, value: unknown): Row | null {
  const { [name]: _, ...rest } = fieldsOf(value)
  return value === null || value === undefined ? null : rest
}

export type Answer = Row[] | { refused: string }

export type Ledger = {
  call(name: string, args: Record<string, unknown>): Promise<Answer>
  /** What the tests look at or set up behind the functions' backs. */
  query(text: string, args?: unknown[]): Promise<Row[]>
  setClock(seconds: number): Promise<void>
  /** Empties every table. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** A database of its own, whose time stands still unless it is set. */
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
  const tables = await query(`select string_agg('private.' || tablename, ', ') as names
    from pg_tables where schemaname = 'private'`)
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
      await query(`truncate ${String(tables[0]?.['names'])}`)
    },
    close: async () => {
      await sql.end({ timeout: 1 })
      await drop()
    },
  }
}

const parameter = z.custom<postgres.ParameterOrJSON<never>>()

/** A text that is unlike any other, for ids that the test gives. */
export const newDigest = () => randomBytes(32).toString('hex')
