/** The logins of the three roles, and the database that each is given. */
import type { Sql } from 'postgres'
import * as z from 'zod'
import type { Database } from '../../shared/db/database.ts'
import { loadDatabase } from './platform.ts'
import { openQuery } from './query.ts'
import { readSecrets } from './settings.ts'

const connections = 10

/** Role of a function: custody and the vault have their own. */
function roleOf(folder: string): string {
  return folder === 'custody' || folder === 'vault' ? folder : 'service_role'
}

/** Name of the login that may take a role and nothing else. */
function loginOf(role: string): string {
  return `aoa_${role}`
}

/** Makes the logins, or gives them their passwords anew, with the connection of the database's owner. */
export async function openLogins(sql: Sql, directory: string): Promise<void> {
  for (const name of ['app', 'custody', 'vault'] as const) {
    const { DATABASE_PASSWORD: password } = readSecrets(directory, name)
    const [role, login] = [roleOf(name), loginOf(roleOf(name))]
    const [found] = await sql`select from pg_catalog.pg_roles where rolname = ${login}`
    const verb = found ? 'alter' : 'create'
    // Base64url has no quote in it.
    await sql.unsafe(`${verb} role ${login} login noinherit password '${password}'`)
    await sql.unsafe(`grant ${role} to ${login}`)
  }
}

/** Settings of a database: its address without a login, who opens it with which secrets, and the built modules. */
export type DatabaseOptions = {
  databaseAt: string
  folder: string
  secrets: Readonly<Record<string, string>>
  modules: string
}

/** Opens the database for a function, with the login of its role. */
export async function openDatabaseOf({
  databaseAt,
  folder,
  secrets,
  modules,
}: DatabaseOptions): Promise<{ database: Database; close: () => Promise<void> }> {
  const url = new URL(databaseAt)
  url.username = loginOf(roleOf(folder))
  url.password = z.string().parse(secrets['DATABASE_PASSWORD'])
  const { query, close } = openQuery({ databaseUrl: url.href, role: roleOf(folder), connections })
  return { database: await loadDatabase(modules, query), close }
}
