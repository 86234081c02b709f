/** Connections of one role to PostgreSQL, which call its functions without PostgREST. */
import type { Query } from '../../shared/db/direct/catalog.ts'
import { openRolePool, type RolePoolOptions } from '../local/database-keys.ts'

/** Settings of the connections. */
export type QueryOptions = Pick<RolePoolOptions, 'databaseUrl' | 'role' | 'connections'>

/** Opens the connections; they are made at the first call. */
export function openQuery(options: QueryOptions): { query: Query; close: () => Promise<void> } {
  const sql = openRolePool({ ...options, schema: 'api' })
  return {
    query: (text, parameters) => sql.unsafe(text, [...parameters], { prepare: true }),
    close: () => sql.end({ timeout: 1 }),
  }
}
