/**
 * A database of its own for a test file: a copy of the migrated template, with a gateway in front and a
 * clock that the test moves.
 */
import { randomBytes } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import postgres, { type Sql } from 'postgres'
import { inject, vi } from 'vitest'
import { createApiKey, createSigningKey, projectOf } from '../../scripts/local/database-keys.ts'
import { type Gateway, startGateway } from '../../scripts/local/gateway.ts'
import { movableClock } from './clock.ts'

export type TestDatabase = {
  url: string
  gatewayUrl: string
  /** Connection as superuser. */
  sql: Sql
  /** Moment at which SQL time stands until a test moves it. */
  began: Date
  /** Moves SQL time forward. */
  tick(seconds: number): Promise<void>
  /** Stops SQL time at this moment; `tick` still moves it. */
  setClock(at: Date): Promise<void>
  /** Stops the gateway, as if the database could not be reached. */
  stopGateway(): Promise<void>
  close(): Promise<void>
}

/** One signing key and API key for all databases of the tests. */
export const signingKey = createSigningKey()
export const project = projectOf({ apiKey: createApiKey(), signingKey })

/** Returns an unmodified supabase-js client with a bearer token. */
export function clientOf(gatewayUrl: string, token: string, schema = 'api') {
  return createClient(gatewayUrl, project.apiKey, {
    db: { schema },
    auth: { persistSession: false },
    global: { headers: { Authorization: `Bearer ${token}` } },
  })
}

/** Makes every gateway of a database reload what was created since it started. */
export async function reloadSchema(sql: Sql, isKnown: () => Promise<boolean>): Promise<void> {
  await sql`notify pgrst, 'reload schema'`
  await vi.waitUntil(isKnown, { timeout: 30_000, interval: 20 })
}

/** A migrated database without additions of a test; `drop` ends its connections. */
export type MigratedDatabase = { url: string; drop: () => Promise<void> }

/** Creates a copy of the migrated template, or of an empty one. */
export async function createDatabase(
  template: 'aoa_template' | 'template1' = 'aoa_template',
): Promise<MigratedDatabase> {
  const server = inject('postgresUrl')
  const name = `aoa_test_${randomBytes(8).toString('hex')}`
  // Takes half the work of the default, which copies block by block through the log.
  await runOnServer(server, `create database ${name} template ${template} strategy file_copy`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const drop = () => runOnServer(server, `drop database if exists ${name} with (force)`)
  return { url: url.href, drop }
}

export async function openTestDatabase(
  given?: MigratedDatabase,
  connections = 4,
): Promise<TestDatabase> {
  const { url, drop } = given ?? (await createDatabase())
  const sql = postgres(url, { max: 2, onnotice() {} })
  await sql.unsafe(movableClock)
  // In the middle of a second, so that the microseconds of transactions never reach the next one.
  const began = new Date(Math.floor(Date.now() / 1000) * 1000 + 500)
  await sql`select testing.hold_clock(${began})`
  const options = { databaseUrl: url, schema: 'api', keys: project.keys, connections }
  const gateway = await startGateway(options)
  const stopGateway = once(gateway)
  const close = async () => {
    await stopGateway()
    await sql.end({ timeout: 1 })
    await drop()
  }
  return { url, gatewayUrl: gateway.url, sql, began, ...clockOf(sql), stopGateway, close }
}

function clockOf(sql: Sql): Pick<TestDatabase, 'tick' | 'setClock'> {
  return {
    tick: async (seconds) => {
      await sql`select testing.move_clock(make_interval(secs => ${seconds}))`
    },
    setClock: async (at) => {
      await sql`select testing.stop_clock(${at})`
    },
  }
}

function once(gateway: Gateway): () => Promise<void> {
  let closing: Promise<void> | undefined
  return () => {
    closing ??= gateway.close()
    return closing
  }
}

async function runOnServer(url: string, statement: string) {
  const sql = postgres(url, { max: 1, onnotice() {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
