/**
 * The only access to Postgres: named SQL functions, one transaction per call, through PostgREST here and without
 * it in direct/. SQLSTATE
 * PTnnn with a code of the error table becomes a Rejection. A database that is busy, does not answer or
 * does not accept the token becomes `unavailable`. Only serialization failures and deadlocks are retried: a
 * statement whose answer was lost may still commit.
 */
import { PostgrestClient } from '@supabase/postgrest-js'
import * as z from 'zod'
import { fail, isErrorCode, type Refusal, Rejection } from '../contract/errors.ts'
import type { Config } from '../env.ts'
import type { DatabaseFunctions } from './functions.ts'

type Name = keyof DatabaseFunctions
type Arguments<N extends Name> = Omit<DatabaseFunctions[N]['args'], 'credential'>

/** The database without a caller; it refuses by throwing a Rejection. */
export type Database = {
  /** Calls one SQL function; returns the answer of PostgREST unparsed. */
  call(name: Name, args: object): Promise<unknown>
}

/** A database bound to one caller: every call carries the credential, so none can forget it. */
export type CallerDatabase = {
  /** Returns the only row, or undefined if there is none. */
  one<N extends Name, Row>(
    name: N,
    args: Arguments<N>,
    row: z.ZodType<Row>,
  ): Promise<Row | undefined>
  many<N extends Name, Row>(name: N, args: Arguments<N>, row: z.ZodType<Row>): Promise<Row[]>
  /** Calls a function whose answer is not needed. */
  run<N extends Name>(name: N, args: Arguments<N>): Promise<void>
}

/** Maximum tries of one call that fails to serialize (SQLSTATE 40001) or deadlocks (40P01). */
const triesMax = 4
/** Time after which a database without an answer counts as down. */
const timeoutMilliseconds = 10_000

type Access = Pick<
  Config,
  | 'SUPABASE_URL'
  | 'SUPABASE_API_KEY'
  | 'SUPABASE_SERVICE_KEY'
  | 'CUSTODY_DATABASE_KEY'
  | 'VAULT_DATABASE_KEY'
>

/** Opens the database with the key that this function was given. */
export function openDatabase(config: Access, send: typeof globalThis.fetch): Database {
  const token =
    config.SUPABASE_SERVICE_KEY ?? config.CUSTODY_DATABASE_KEY ?? config.VAULT_DATABASE_KEY ?? ''
  const client = new PostgrestClient(`${config.SUPABASE_URL}/rest/v1`, {
    headers: { apikey: config.SUPABASE_API_KEY ?? '', authorization: `Bearer ${token}` },
    schema: 'api',
    fetch: (input, init) => send(input, init).then(withoutEmptyNotFound),
    timeout: timeoutMilliseconds,
  })
  return retrying((name, args) => client.rpc(name, args))
}

/** Makes a database of calls that answer as PostgREST does; `status` tells what an error without a code means. */
export function retrying(
  call: (name: Name, args: object) => PromiseLike<DatabaseAnswer>,
): Database {
  return {
    async call(name, args) {
      for (let tries = 1; ; tries += 1) {
        const { data, error, status } = await call(name, args)
        if (!error) return data
        const again = error.code === '40001' || error.code === '40P01'
        if (!again || tries === triesMax) throw rejection(error, status)
      }
    },
  }
}

/** Binds the caller's credential to every call. */
export function bindCredential(database: Database, credential: string): CallerDatabase {
  return reading((name, args) => database.call(name, { credential, ...args }))
}

/** Reads rows in the same way for calls without a credential (housekeeping, custody). */
export function unbound(database: Database): CallerDatabase {
  return reading((name, args) => database.call(name, args))
}

const rows = z.array(z.unknown())

function reading(call: Database['call']): CallerDatabase {
  return {
    async one(name, args, row) {
      const [first, ...others] = rows.parse(await call(name, args))
      if (others.length > 0) throw new Error(`${name} answered more than one row`)
      return first === undefined ? undefined : row.parse(first)
    },
    async many(name, args, row) {
      return z.array(row).parse(await call(name, args))
    },
    async run(name, args) {
      await call(name, args)
    },
  }
}

/** Answer of one call; an error holds the SQLSTATE, or PostgREST's own code. */
export type DatabaseAnswer = { data: unknown; error: DatabaseFailure | null; status: number }
type DatabaseFailure = { code?: string; message: string; details?: string | null }

function rejection(error: DatabaseFailure, status: number): Error {
  const log = `${error.code ?? ''} ${error.message}`
  if (/^PT\d{3}$/.test(error.code ?? '') && isErrorCode(error.message)) {
    return new Rejection({ ...fail(error.message), ...detailOf(error.details) })
  }
  if (!isUnavailable(error.code ?? '', status)) return new Error(`database: ${log}`)
  return new Rejection(fail('unavailable', { log, retryAfterSeconds }))
}

/** Seconds in which most causes of an unavailable database pass. */
const retryAfterSeconds = 5

/**
 * SQLSTATEs of a database that is down, busy or gave up waiting (57014, 55P03), and PostgREST's codes for a
 * database it cannot reach, a token it does not accept, and a function it does not know yet (its manual,
 * "Errors"). An answer without a code is a gateway's own, or none.
 */
const unavailableCodes =
  /^(08|53|57014$|57P|55P03$|40001$|40P01$|PGRST00[0-3]$|PGRST202$|PGRST30[0-3]$)/

function isUnavailable(code: string, status: number): boolean {
  if (code === '') return status === 0 || status >= 500 || status === 401 || status === 404
  return unavailableCodes.test(code)
}

/** Marks a gateway's empty 404 as an error; the client would take it for an answer without content. */
async function withoutEmptyNotFound(response: Response): Promise<Response> {
  if (response.status !== 404) return response
  const body = await response.text()
  const { status, statusText, headers } = response
  return body === ''
    ? new Response('{}', { status: 502 })
    : new Response(body, { status, statusText, headers })
}

/** Returns the SQLSTATE or PostgREST code with which a call failed; undefined for any other failure. */
export function sqlStateOf(error: unknown): string | undefined {
  const [, code] = error instanceof Error ? (/^database: (\w*) /.exec(error.message) ?? []) : []
  return code
}

const detailSchema = z.looseObject({
  retry_after_seconds: z.number().optional(),
  needed: z.string().optional(),
  credential_id: z.string().optional(),
  held: z.array(z.string()).optional(),
  hint: z.string().optional(),
})

function detailOf(details: string | null | undefined): Partial<Refusal> {
  const parsed = detailSchema.safeParse(details ? JSON.parse(details) : {})
  const { retry_after_seconds: seconds, needed, held = [], credential_id, hint } = parsed.data ?? {}
  return {
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    ...(credential_id === undefined ? {} : { details: { credential_id } }),
    ...(hint === undefined ? {} : { hint }),
    ...(needed === undefined
      ? {}
      : {
          hint: `It needs the scope ${needed}; this key has ${held.join(', ')}.`,
          details: { needed, held },
        }),
  }
}
