/** Connections of one role to PostgreSQL, which call its functions without PostgREST. */
import postgres from 'postgres'
import type { Query } from '../../shared/db/direct/catalog.ts'

/** Limits that hosted projects set for the role that PostgREST logs in with. */
const statementTimeoutMilliseconds = 8_000
const lockTimeoutMilliseconds = 8_000
const connectTimeoutSeconds = 5

/** Settings of the connections. */
export type QueryOptions = {
  databaseUrl: string
  /** Role that every connection takes; the login has to be a member of it. */
  role: string
  /** Maximum number of connections. */
  connections: number
}

/** Opens a pool; it connects at the first call and again after an outage. */
export function openQuery({ databaseUrl, role, connections }: QueryOptions): {
  query: Query
  close: () => Promise<void>
} {
  const url = new URL(databaseUrl)
  // A second call on a busy connection would wait for the locks that the first one waits for.
  url.searchParams.set('max_pipeline', '0')
  const sql = postgres(url.href, {
    max: connections,
    fetch_types: false,
    connect_timeout: connectTimeoutSeconds,
    backoff: () => 0.1,
    onnotice() {},
    connection: {
      role,
      search_path: 'api',
      statement_timeout: statementTimeoutMilliseconds,
      lock_timeout: lockTimeoutMilliseconds,
    },
  })
  return {
    query: (text, parameters) => sql.unsafe(text, [...parameters], { prepare: true }),
    close: () => sql.end({ timeout: 1 }),
  }
}
