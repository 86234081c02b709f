/** Connections that serve one role for life, set in their start-up packet together with limits. */
import postgres, { type Sql } from 'postgres'

/** Timeouts that hosted projects set for the role that PostgREST logs in with. */
const statementTimeoutMilliseconds = 8_000
const lockTimeoutMilliseconds = 8_000
const connectTimeoutSeconds = 5

/** Settings of the connections. */
export type RolePoolOptions = {
  databaseUrl: string
  /** Role that every connection takes; the login has to be a member of it. */
  role: string
  schema: string
  /** Maximum number of connections. */
  connections: number
  /** Further settings of every connection. */
  settings?: Readonly<Record<string, string | boolean>>
}

/** Opens a pool; it connects at the first call and again after an outage. */
export function openRolePool(options: RolePoolOptions): Sql {
  const { databaseUrl, role, schema, connections, settings } = options
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
      statement_timeout: statementTimeoutMilliseconds,
      lock_timeout: lockTimeoutMilliseconds,
      ...settings,
    },
  })
}
