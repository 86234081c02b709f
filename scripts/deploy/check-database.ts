/** Looks at a database: how it is reached, its version, and what its login may do. It changes nothing. */
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import { connectTo, isCertificateChecked } from '../program/connect.ts'
import { type Finding, unknown, well, wrong } from './finding.ts'
import { queryProject, type SupabaseProject } from './supabase.ts'

const versionMin = 150_000
const loopback = /^(127\.0\.0\.1|localhost|\[::1\])$/
const encrypted = ['require', 'verify-ca', 'verify-full']

/** Returns the findings about the database, which has to be that of this Supabase project. */
export async function checkDatabase(
  databaseUrl: string,
  access: SupabaseProject,
): Promise<Finding[]> {
  const address = checkAddress(databaseUrl)
  if (address) return [address]
  const sql = connectTo(databaseUrl)
  try {
    return [
      await checkVersion(sql),
      await checkRoles(sql),
      await checkProject(sql, access),
      ...checkCertificate(databaseUrl),
    ]
  } catch (error) {
    return [unreached(error)]
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Returns what is wrong with the address itself. No sentence repeats it, because it holds a password. */
function checkAddress(databaseUrl: string): Finding | undefined {
  if (!/^postgres(ql)?:/.test(databaseUrl) || !URL.canParse(databaseUrl)) {
    return wrong(
      'DATABASE_URL is not an address such as postgresql://user:password@host:5432/postgres',
    )
  }
  const { hostname, port, searchParams } = new URL(databaseUrl)
  // Statements of one session, such as a lock, would reach different servers.
  if (port === '6543') {
    return wrong(
      'DATABASE_URL is that of the transaction pooler (port 6543): take the session pooler or the direct connection, port 5432',
    )
  }
  if (!loopback.test(hostname) && !encrypted.includes(searchParams.get('sslmode') ?? '')) {
    return wrong('DATABASE_URL does not demand TLS: add ?sslmode=require')
  }
  return undefined
}

/** Differs for each server and each of its databases, and changes only when the server starts again. */
const fingerprint = `
  select extract(epoch from pg_catalog.pg_postmaster_start_time())::text || ' ' || d.oid::text as fingerprint
    from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()`

/** Asks for the fingerprint through both ways: a name in an address proves nothing. */
async function checkProject(sql: Sql, access: SupabaseProject): Promise<Finding> {
  const theirs = await queryProject(access, fingerprint)
  if (typeof theirs === 'number') {
    // A token that is none is named by the look at the project.
    if (theirs === 401) return unknown('DATABASE_URL cannot be compared with the project')
    return theirs === 403
      ? wrong('SUPABASE_ACCESS_TOKEN has not the right database_read: add it in the dashboard')
      : wrong(`the project ${access.project} answers no query (${theirs}): run this again`)
  }
  const [ours] = await sql.unsafe(fingerprint)
  return ours?.['fingerprint'] === theirs[0]?.['fingerprint']
    ? well(`DATABASE_URL is the database of ${access.project}`)
    : wrong(`DATABASE_URL is another database than that of ${access.project}: correct one of them`)
}

function unreached(error: unknown): Finding {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return wrong(
      `the certificate of the database is not accepted (${code}): give DATABASE_URL sslrootcert= with the file of its authority`,
    )
  }
  return wrong(
    code.startsWith('28')
      ? 'DATABASE_URL has a wrong user or password: take both from the dashboard (Connect)'
      : `the database cannot be reached (${code}): take the session pooler if this machine has no IPv6, and unpause the project`,
  )
}

function checkCertificate(databaseUrl: string): Finding[] {
  const isHere = loopback.test(new URL(databaseUrl).hostname)
  if (isHere || isCertificateChecked(databaseUrl)) return []
  return [
    unknown(
      'the certificate of the database is not checked: give DATABASE_URL sslmode=verify-full, and sslrootcert= with the file of its authority if that is not a public one',
    ),
  ]
}

async function checkVersion(sql: Sql): Promise<Finding> {
  const [row] = await sql<{ version: number }[]>`
    select current_setting('server_version_num')::int as version`
  const version = row?.version ?? 0
  const major = Math.floor(version / 10_000)
  return version >= versionMin
    ? well(`PostgreSQL ${major} is reached`)
    : wrong(`PostgreSQL ${major} is too old: upgrade the project to 15 or newer`)
}

const rolledBack = new Error('rolled back')

/** Creates the kind of role that the migrations create, and rolls it back. */
async function checkRoles(sql: Sql): Promise<Finding> {
  const [row] = await sql<{ is_known: boolean }[]>`
    select to_regrole('service_role') is not null as is_known`
  const options = row?.is_known ? 'nologin noinherit' : 'nologin noinherit bypassrls'
  try {
    await sql.begin(async (tx) => {
      await tx.unsafe(`create role trial_${randomBytes(8).toString('hex')} ${options}`)
      throw rolledBack
    })
  } catch (error) {
    if (error !== rolledBack) {
      return wrong(
        'the login of DATABASE_URL may not create roles: take that of postgres, or grant it CREATEROLE and BYPASSRLS',
      )
    }
  }
  return well('the login may create roles')
}
