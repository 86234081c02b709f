/**
 * Answers one call to a function. A connection serves one role for life, set in its start-up packet
 * together with claims, search_path and limits, so a call is a single statement and thereby a
 * single transaction: one round trip instead of begin, set_config, call and commit.
 */
import postgres, { type Sql } from 'postgres'
import * as z from 'zod'
import { type Catalog, findFunction, loadCatalog } from './catalog.ts'
import { type Answer, parseJson, type Refusal, refusal, refusalOf } from './errors.ts'
import { type Plan, type PlanRow, planOf, type SqlFunction } from './plan.ts'

const statementTimeoutMilliseconds = 10_000
const connectTimeoutSeconds = 5
const reloadIntervalMilliseconds = 1_000
const callsInFlightMax = 512

export type Call = {
  role: string
  function: string
  /** The arguments as JSON text, and their names. */
  json: string
  given: readonly string[]
  /** Wants one object rather than a list. */
  single: boolean
  readOnly: boolean
}

export type Caller = { call(call: Call): Promise<Answer>; close(): Promise<void> }

export type CallerOptions = { databaseUrl: string; schema: string; connections: number }

/** Connects, reads the catalog and answers calls until it is closed. */
export async function openCaller(options: CallerOptions): Promise<Caller> {
  const owner = postgres(options.databaseUrl, { max: 1, onnotice() {}, backoff: () => 0.1 })
  const pools = new Map<string, Sql>()
  const close = async () => {
    await Promise.all([owner, ...pools.values()].map((sql) => sql.end({ timeout: 1 })))
  }
  const find = await openCatalog(owner, options.schema).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const poolOf = ({ role, readOnly }: Call) => {
    const key = `${role} ${readOnly}`
    const pool = pools.get(key) ?? openPool(role, readOnly, options)
    pools.set(key, pool)
    return pool
  }
  const run = async (call: Call): Promise<Answer> => {
    const fn = await find(call)
    if ('refused' in fn) return fn
    const plan = planOf(fn, call.given, call.single)
    return answerOf(await execute(poolOf(call), plan, call.json), plan, fn)
  }
  return { call: limited(run), close }
}

// Refuses what would only wait, and turns the driver's exceptions into answers.
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

// A function that is not known may have been created since: the catalog is read again, but seldom.
async function openCatalog(owner: Sql, schema: string) {
  let catalog: Catalog = await loadCatalog(owner, schema)
  let loadedAt = performance.now()
  return async (call: Call) => {
    const found = findFunction(catalog, schema, call.function, call.given)
    const rested = performance.now() - loadedAt > reloadIntervalMilliseconds
    if (!('refused' in found) || !rested) return found
    loadedAt = performance.now()
    catalog = await loadCatalog(owner, schema)
    return findFunction(catalog, schema, call.function, call.given)
  }
}

function openPool(role: string, readOnly: boolean, options: CallerOptions): Sql {
  const { databaseUrl, schema, connections } = options
  const url = new URL(databaseUrl)
  // A second call on a busy connection would wait for the locks that the first one waits for.
  url.searchParams.set('max_pipeline', '0')
  return postgres(url.href, {
    max: connections,
    fetch_types: false,
    connect_timeout: connectTimeoutSeconds,
    backoff: () => 0.1,
    onnotice() {},
    connection: {
      role,
      search_path: `"${schema}"`,
      'request.jwt.claims': JSON.stringify({ role }),
      statement_timeout: statementTimeoutMilliseconds,
      default_transaction_read_only: readOnly,
    },
  })
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
    'content-type': `${kind}; charset=utf-8`,
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
