/**
 * Answers one call to a function. A connection serves one role for life, set in its start-up packet
 * together with claims, search_path and limits. A call is therefore a single statement and a single
 * transaction: one round trip instead of begin, set_config, call and commit.
 */
import postgres, { type Sql } from 'postgres'
import * as z from 'zod'
import { loadCatalog, type Query } from '../../../shared/db/direct/catalog.ts'
import {
  type Plan,
  type PlanRow,
  planOf,
  type SqlFunction,
} from '../../../shared/db/direct/plan.ts'
import { openRolePool } from '../database-keys.ts'
import { type Answer, parseJson, type Refusal, refusal, refusalOf } from './errors.ts'
import { findFunction, type Identity } from './keys.ts'

/** PostgREST's `db-pool-acquisition-timeout`. */
const acquisitionTimeoutMilliseconds = 10_000
const callsInFlightMax = 512

/** One call of a database function. */
export type Call = Identity & {
  function: string
  /** Arguments as JSON text; `given` holds their names. */
  json: string
  given: readonly string[]
  /** True if the answer is to be one object rather than a list. */
  single: boolean
  readOnly: boolean
}

/** An open connection to the functions of one schema. */
export type Caller = { call(call: Call): Promise<Answer>; close(): Promise<void> }

/** Settings of a caller. */
export type CallerOptions = {
  databaseUrl: string
  schema: string
  /** Maximum number of calls at once over all roles, which share one pool. */
  connections: number
}

/** Connects, reads the catalog and answers calls until it is closed. */
export async function openCaller(options: CallerOptions): Promise<Caller> {
  const owner = postgres(options.databaseUrl, {
    max: 1,
    // If a connection closes while postgres 3.4.9 reads the array types, no caller gets the rejection, and
    // the process ends.
    fetch_types: false,
    backoff: () => 0.1,
    onnotice() {},
  })
  const pools = new Map<string, Sql>()
  const close = async () => {
    await Promise.all([owner, ...pools.values()].map((sql) => sql.end({ timeout: 1 })))
  }
  const schemaNow = await openSchema(owner, options.schema).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const poolOf = (role: string, readOnly: boolean) => {
    const key = `${role} ${readOnly}`
    const pool = pools.get(key) ?? openPool(role, readOnly, options)
    pools.set(key, pool)
    return pool
  }
  const slots = createSlots(options.connections)
  const run = async (call: Call): Promise<Answer> => {
    const { find, roles } = schemaNow()
    const fn = find(call)
    if ('refused' in fn) return fn
    if (!roles.has(call.role)) return unknownRole(call.role)
    const plan = planOf(fn, call.given, call.single)
    if (!(await slots.take())) return poolTimeout()
    try {
      const pool = poolOf(call.role, call.readOnly || fn.readsOnly)
      return answerOf(await execute(pool, plan, call.json), plan, fn)
    } finally {
      slots.giveBack()
    }
  }
  return { call: limited(run), close }
}

// Refuses calls that would only wait, and turns the driver's exceptions into answers.
function limited(run: (call: Call) => Promise<Answer>): Caller['call'] {
  let inFlight = 0
  return async (call) => {
    if (inFlight >= callsInFlightMax) return poolTimeout()
    inFlight += 1
    try {
      return await run(call)
    } catch (error) {
      return refusalOf(error, call.role === 'anon')
    } finally {
      inFlight -= 1
    }
  }
}

/** Hands out the slots of the pool, first come, first served. */
function createSlots(count: number) {
  const waiting = new Set<(isTaken: boolean) => void>()
  let free = count
  const take = () =>
    new Promise<boolean>((resolve) => {
      if (free > 0) {
        free -= 1
        resolve(true)
        return
      }
      const settle = (isTaken: boolean) => {
        clearTimeout(timer)
        waiting.delete(settle)
        resolve(isTaken)
      }
      const timer = setTimeout(() => settle(false), acquisitionTimeoutMilliseconds)
      waiting.add(settle)
    })
  const giveBack = () => {
    const [next] = waiting
    if (next) next(true)
    else free += 1
  }
  return { take, giveBack }
}

/** A database as PostgREST knows it: its functions, and the roles that its login may change to. */
type Schema = { find: (call: Call) => SqlFunction | Refusal; roles: ReadonlySet<string> }

// Functions that were created later stay unknown until `notify pgrst, 'reload schema'`.
async function openSchema(owner: Sql, name: string): Promise<() => Schema> {
  let schema = await loadSchema(owner, name)
  const reload = async () => {
    schema = await loadSchema(owner, name)
  }
  // After an outage the schema is read again, because the listener then reconnects.
  const attempt = () => void reload().catch(() => undefined)
  await owner.listen('pgrst', attempt, attempt)
  return () => schema
}

async function loadSchema(owner: Sql, name: string): Promise<Schema> {
  const query: Query = (sql, parameters) => owner.unsafe(sql, [...parameters])
  const catalog = await loadCatalog(query, name)
  const roles = await owner<{ name: string }[]>`
    select granted.rolname as name from pg_auth_members
      join pg_roles granted on granted.oid = roleid
      join pg_roles login on login.oid = member
     where login.rolname = 'authenticator'`
  return {
    find: (call) => findFunction(catalog, name, call.function, call.given),
    roles: new Set(roles.map((role) => role.name)),
  }
}

function unknownRole(role: string): Refusal {
  return refusal(403, '42501', `permission denied to set role "${role}"`)
}

function openPool(role: string, readOnly: boolean, options: CallerOptions): Sql {
  const settings = {
    'request.jwt.claims': JSON.stringify({ role }),
    default_transaction_read_only: readOnly,
  }
  return openRolePool({ ...options, role, settings })
}

async function execute(pool: Sql, plan: Plan, json: string): Promise<PlanRow> {
  const parameters = plan.takesBody ? [json] : []
  const [row] = await pool.unsafe<PlanRow[]>(plan.sql, parameters, { prepare: true })
  if (!row) throw new Error('an aggregate gave no row')
  return row
}

const headerList = z.array(z.record(z.string(), z.string()))

function answerOf(row: PlanRow, plan: Plan, fn: SqlFunction): Answer {
  if (plan.single && row.rows !== 1) return notOne(row.rows)
  const kind = plan.single ? 'application/vnd.pgrst.object+json' : 'application/json'
  const headers: Record<string, string> = {
    ...(fn.void ? {} : { 'content-type': `${kind}; charset=utf-8` }),
    'content-range': fn.set && row.rows === 0 ? '*/*' : `0-${fn.set ? row.rows - 1 : 0}/*`,
  }
  if (row.headers !== null) {
    const extra = headerList.safeParse(parseJson(row.headers)).data
    if (!extra) return refusal(500, 'PGRST111', 'response.headers guc must be a JSON array')
    Object.assign(headers, ...extra)
  }
  const status = row.status === null ? (fn.void ? 204 : 200) : Number(row.status)
  if (!(status >= 100 && status <= 599)) {
    return refusal(500, 'PGRST112', 'response.status guc must be a valid status code')
  }
  return { status, headers, body: fn.void ? '' : row.body }
}

function notOne(rows: number): Refusal {
  const message = 'Cannot coerce the result to a single JSON object'
  return refusal(406, 'PGRST116', message, `The result contains ${rows} rows`)
}

function poolTimeout(): Refusal {
  return refusal(504, 'PGRST003', 'Timed out acquiring connection from connection pool.')
}
