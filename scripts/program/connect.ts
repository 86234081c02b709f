/**
 * Connections of programs to PostgreSQL. `sslmode` and `sslrootcert` in the address mean what they mean for libpq,
 * except that `require` checks the certificate where that is possible without a file: Supabase's.
 */
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, rootCertificates } from 'node:tls'
import postgres, { type Options, type PostgresType, type Sql } from 'postgres'
import { supabaseRoot } from './supabase-root.ts'

const connectTimeoutSeconds = 10

/** Opens one connection to the database of this address when it is first used. */
export function connectTo(databaseUrl: string): Sql {
  const { address, tls } = readAddress(databaseUrl)
  const options: Options<Record<string, PostgresType>> = {
    max: 1,
    onnotice() {},
    connect_timeout: connectTimeoutSeconds,
    ...(tls && { ssl: tls }),
  }
  return postgres(address, options)
}

/** Returns true if a connection to this address accepts the certificate of a known authority only. */
export function isCertificateChecked(databaseUrl: string): boolean {
  return readAddress(databaseUrl).tls !== undefined
}

const supabaseHost = /\.supabase\.(co|com)$/

/** Returns the address without what the driver would not understand, and the checks of TLS if there are any. */
function readAddress(databaseUrl: string): { address: string; tls?: ConnectionOptions } {
  if (!URL.canParse(databaseUrl)) return { address: databaseUrl }
  const url = new URL(databaseUrl)
  const file = url.searchParams.get('sslrootcert') ?? ''
  const mode = url.searchParams.get('sslmode') ?? (file === '' ? '' : 'verify-full')
  url.searchParams.delete('sslrootcert')
  const address = file === '' ? databaseUrl : url.href
  const isSupabase = supabaseHost.test(url.hostname)
  const isChecked = mode.startsWith('verify-') || file !== '' || isSupabase
  if (!['require', 'verify-ca', 'verify-full'].includes(mode) || !isChecked) return { address }
  // Supabase signs the certificates of its databases and poolers itself.
  const known = isSupabase ? [...rootCertificates, supabaseRoot] : [...rootCertificates]
  const ca = file === '' || file === 'system' ? known : [readFileSync(file, 'utf8')]
  // Without a file of its own, anybody's certificate for another host would do.
  const isHostChecked = mode === 'verify-full' || file === '' || file === 'system'
  const tls = { ca, host: url.hostname, rejectUnauthorized: true }
  return {
    address,
    tls: isHostChecked ? tls : { ...tls, checkServerIdentity: () => undefined },
  }
}
