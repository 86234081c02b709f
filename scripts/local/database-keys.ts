/**
 * The keys of a project's database, of the kinds that a hosted project has: a publishable API key, and a
 * signing key (ES256) for the tokens of the functions' roles.
 */
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { JSONWebKeySet } from 'jose'
import type { Sql } from 'postgres'
import postgres from 'postgres'
import * as z from 'zod'
import type { ProjectKeys } from './gateway/keys.ts'

/** Role that a function's token may name. */
export type DatabaseRole = 'service_role' | 'custody' | 'vault'

const jwkSchema = z.looseObject({ kid: z.string(), x: z.string(), y: z.string() })

/** Returns a P-256 JWK (RFC 7518 section 6.2) with `kid`, as JSON text. */
export function createSigningKey(kid: string = randomBytes(8).toString('hex')): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const named = { alg: 'ES256', use: 'sig', kid }
  return JSON.stringify({ ...privateKey.export({ format: 'jwk' }), ...named })
}

/** Returns the public keys that verify tokens of a signing key. */
function publicKeysOf(signingKey: string): JSONWebKeySet {
  const { kid, x, y } = jwkSchema.parse(JSON.parse(signingKey))
  return { keys: [{ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid, x, y }] }
}

/** Returns a JWT (RFC 7519) for a role, valid until `expiresAtSeconds` (Unix time). */
export function mintToken(
  signingKey: string,
  { role, expiresAtSeconds }: { role: string; expiresAtSeconds: number },
): string {
  const jwk = jwkSchema.parse(JSON.parse(signingKey))
  const issuedAt = Math.floor(Date.now() / 1000) - 60
  const head = jwtPart({ alg: 'ES256', typ: 'JWT', kid: jwk.kid })
  const text = `${head}.${jwtPart({ role, iat: issuedAt, exp: expiresAtSeconds })}`
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

/** Returns a key that the front of a project requires of every request; it grants nothing by itself. */
export function createApiKey(): string {
  return `sb_publishable_${randomBytes(16).toString('base64url')}`
}

function jwtPart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}

const yearSeconds = 365 * 24 * 60 * 60

/** A project: the keys that its front and PostgREST know, and those that its functions are given. */
export type Project = {
  keys: ProjectKeys
  apiKey: string
  tokens: Readonly<Record<DatabaseRole, string>>
}

/** Returns the project of these keys, with a token for each role that is valid for a year. */
export function projectOf({ apiKey, signingKey }: { apiKey: string; signingKey: string }): Project {
  const expiresAtSeconds = Math.floor(Date.now() / 1000) + yearSeconds
  const tokenOf = (role: DatabaseRole) => mintToken(signingKey, { role, expiresAtSeconds })
  const tokens = {
    service_role: tokenOf('service_role'),
    custody: tokenOf('custody'),
    vault: tokenOf('vault'),
  }
  const keys = { apiKeys: { [apiKey]: 'anon' as const }, jwks: publicKeysOf(signingKey) }
  return { keys, apiKey, tokens }
}

/** Returns the bindings by which functions reach the database of a project. */
export function databaseBindings({ apiKey, tokens }: Project) {
  return {
    SUPABASE_API_KEY: apiKey,
    SUPABASE_SERVICE_KEY: tokens.service_role,
    CUSTODY_DATABASE_KEY: tokens.custody,
    VAULT_DATABASE_KEY: tokens.vault,
  }
}

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
