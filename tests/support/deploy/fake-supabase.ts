/**
 * A fake of the parts of Supabase's Management API that a deployment uses, as strict as its OpenAPI document and
 * the guide "JWT signing keys": a token is demanded and its rights are looked at before the body, unknown fields
 * are refused, and a state of a key follows from another only as there. Changes of keys are throttled.
 */
import type { JSONWebKeySet } from 'jose'
import postgres from 'postgres'
import * as z from 'zod'
import { randomBytes, randomUUID } from '../seed.ts'

const throttleMilliseconds = 300_000

const ecKey = z.strictObject({
  kid: z.uuid().optional(),
  use: z.literal('sig').optional(),
  key_ops: z
    .array(z.enum(['sign', 'verify']))
    .length(2)
    .optional(),
  ext: z.literal(true).optional(),
  kty: z.literal('EC'),
  alg: z.literal('ES256').optional(),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
})
const statuses = ['in_use', 'previously_used', 'revoked', 'standby'] as const
const createKey = z.strictObject({
  algorithm: z.enum(['EdDSA', 'ES256', 'RS256', 'HS256']),
  status: z.enum(['in_use', 'standby']).optional(),
  private_jwk: ecKey.optional(),
})
const updateKey = z.strictObject({ status: z.enum(statuses) })
const updatePostgrest = z.strictObject({
  db_schema: z.string().optional(),
  db_extra_search_path: z.string().optional(),
  max_rows: z.int().min(0).max(1_000_000).optional(),
  db_pool: z.int().min(0).max(1_000).optional(),
})
const readOnlyQuery = z.strictObject({
  query: z.string().min(1),
  parameters: z.array(z.unknown()).optional(),
})
const createApiKey = z.strictObject({
  type: z.enum(['publishable', 'secret']),
  name: z
    .string()
    .regex(/^[a-z_][a-z0-9_]+$/)
    .min(4)
    .max(64),
  description: z.string().nullish(),
})

type Status = (typeof statuses)[number]
type Key = {
  id: string
  algorithm: string
  status: Status
  public_jwk: Record<string, string> | null
  created_at: string
  updated_at: string
}

/** States that a state may become; `in_use` ends by the rotation of another key alone. */
const followers: Readonly<Record<Status, readonly Status[]>> = {
  standby: ['in_use', 'previously_used'],
  in_use: [],
  previously_used: ['standby', 'revoked'],
  revoked: ['standby'],
}

/** All rights of a token, by the names of the OpenAPI document. */
const allRights = [
  'project_admin_read',
  'database_read',
  'data_api_config_read',
  'data_api_config_write',
  'auth_signing_keys_read',
  'auth_signing_keys_write',
  'api_gateway_keys_read',
  'api_gateway_keys_write',
]

export type FakeSupabase = {
  /** Address of the API. */
  url: string
  project: string
  token: string
  /** Rights that the token has. */
  rights: Set<string>
  keys: Key[]
  schemas: string
  apiKeys: { type: string; name: string; api_key: string }[]
  status: string
  /** Database of the project. */
  databaseUrl: string
  /** Changes that were made, as `METHOD path`. */
  changes: string[]
  answer: (request: Request) => Promise<Response>
  /** Returns the public keys of the tokens that the project accepts. */
  jwks: () => JSONWebKeySet
}

type Call = { method: string; path: string; body: unknown; isRevealing: boolean }

/** Opens a project over this database that signs with its old secret yet, and exposes what a new one does. */
export function openFakeSupabase(now: () => Date, databaseUrl: string): FakeSupabase {
  const fake: FakeSupabase = {
    url: 'https://api.supabase.com',
    project: 'abcdefghijklmnopqrst',
    token: `sbp_${randomBytes(20).toString('hex')}`,
    rights: new Set(allRights),
    keys: [],
    schemas: 'public,graphql_public',
    apiKeys: [],
    status: 'ACTIVE_HEALTHY',
    databaseUrl,
    changes: [],
    answer: (request) => answerRequest(fake, now, request),
    jwks: () => ({
      keys: fake.keys.flatMap(({ status, public_jwk }) =>
        status === 'revoked' || public_jwk === null ? [] : [{ kty: 'EC', ...public_jwk }],
      ),
    }),
  }
  return fake
}

const refuse = (status: number, message: string) => Response.json({ message }, { status })

async function answerRequest(
  fake: FakeSupabase,
  now: () => Date,
  request: Request,
): Promise<Response> {
  if (request.headers.get('authorization') !== `Bearer ${fake.token}`) {
    return refuse(401, 'Unauthorized')
  }
  const { pathname, searchParams } = new URL(request.url)
  const base = `/v1/projects/${fake.project}`
  if (pathname !== base && !pathname.startsWith(`${base}/`)) return refuse(404, 'Not Found')
  const { method } = request
  const text = await request.text()
  const call: Call = {
    method,
    path: pathname.slice(base.length),
    body: text === '' ? undefined : JSON.parse(text),
    isRevealing: searchParams.get('reveal') === 'true',
  }
  const right = rightFor(call)
  if (right === undefined) return refuse(404, `Cannot ${method} ${pathname}`)
  if (!fake.rights.has(right)) return refuse(403, `Forbidden: ${right} is needed`)
  if (right === 'database_read') return answerQuery(fake, call)
  const answered = route(fake, now, call)
  if (method !== 'GET' && answered.ok) fake.changes.push(`${method} ${call.path}`)
  return answered
}

function rightFor({ method, path }: Call): string | undefined {
  const end = method === 'GET' ? 'read' : 'write'
  if (path === '' && method === 'GET') return 'project_admin_read'
  if (path === '/postgrest' && ['GET', 'PATCH'].includes(method)) return `data_api_config_${end}`
  if (path === '/api-keys' && ['GET', 'POST'].includes(method)) return `api_gateway_keys_${end}`
  if (path === '/database/query/read-only' && method === 'POST') return 'database_read'
  if (path.startsWith('/config/auth/signing-keys')) return `auth_signing_keys_${end}`
  return undefined
}

function route(fake: FakeSupabase, now: () => Date, call: Call): Response {
  const { method, path } = call
  if (path === '') return Response.json(projectOf(fake))
  if (path === '/postgrest') return postgrest(fake, call)
  if (path === '/api-keys') return apiKeys(fake, call)
  if (path === '/config/auth/signing-keys/legacy') {
    return method === 'POST' ? adopt(fake, now) : refuse(404, 'Not Found')
  }
  if (path === '/config/auth/signing-keys') {
    return method === 'POST' ? create(fake, now, call) : Response.json({ keys: fake.keys })
  }
  const key = fake.keys.find(({ id }) => path === `/config/auth/signing-keys/${id}`)
  if (!key || method !== 'PATCH') return refuse(404, 'Not Found')
  return update(fake, now, key, call)
}

/** Answers from the database itself, in a transaction that may only read. */
async function answerQuery({ databaseUrl }: FakeSupabase, { body }: Call): Promise<Response> {
  const read = readOnlyQuery.safeParse(body)
  if (!read.success) return refuse(400, z.prettifyError(read.error))
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} })
  try {
    const rows = await sql.begin('read only', (tx) => tx.unsafe(read.data.query))
    return Response.json([...rows], { status: 201 })
  } catch (error) {
    return refuse(400, `Failed to run sql query: ${String(error)}`)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

function projectOf({ project, status }: FakeSupabase) {
  const database = { host: `db.${project}.supabase.co`, version: '17.6.1', postgres_engine: '17' }
  return { id: project, ref: project, name: 'account', region: 'eu-central-1', status, database }
}

function postgrest(fake: FakeSupabase, { method, body }: Call): Response {
  if (method === 'PATCH') {
    const read = updatePostgrest.safeParse(body)
    if (!read.success) return refuse(400, z.prettifyError(read.error))
    fake.schemas = read.data.db_schema ?? fake.schemas
  }
  const fixed = { max_rows: 1_000, db_extra_search_path: 'public, extensions', db_pool: null }
  return Response.json({ db_schema: fake.schemas, ...fixed })
}

function apiKeys(fake: FakeSupabase, { method, body, isRevealing }: Call): Response {
  const shown = (one: FakeSupabase['apiKeys'][number]) =>
    isRevealing ? one : { ...one, api_key: `${one.api_key.slice(0, 18)}...` }
  if (method === 'GET') return Response.json(fake.apiKeys.map(shown))
  const read = createApiKey.safeParse(body)
  if (!read.success) return refuse(400, z.prettifyError(read.error))
  const { type, name } = read.data
  if (fake.apiKeys.some((one) => one.name === name)) return refuse(400, 'name is taken')
  const made = { type, name, api_key: `sb_${type}_${randomBytes(16).toString('base64url')}` }
  fake.apiKeys.push(made)
  return Response.json(shown(made), { status: 201 })
}

function throttle({ keys }: FakeSupabase, now: () => Date): Response | undefined {
  const last = Math.max(...keys.map(({ updated_at }) => Date.parse(updated_at)))
  const until = new Date(last + throttleMilliseconds)
  if (now() >= until) return undefined
  return refuse(
    429,
    `Please wait until ${until.toISOString()} before attempting this request again.`,
  )
}

function adopt(fake: FakeSupabase, now: () => Date): Response {
  if (fake.keys.length > 0) return refuse(400, 'The JWT secret is a signing key already')
  const key = newKey('HS256', 'in_use', null, now)
  fake.keys.push(key)
  return Response.json(key, { status: 201 })
}

function create(fake: FakeSupabase, now: () => Date, { body }: Call): Response {
  const read = createKey.safeParse(body)
  if (!read.success) return refuse(400, z.prettifyError(read.error))
  const { algorithm, status = 'standby', private_jwk: given } = read.data
  if (algorithm !== 'ES256' || status !== 'standby' || !given) {
    return refuse(400, 'this fake takes private keys for ES256 in standby')
  }
  if (fake.keys.some((one) => one.status === 'standby')) {
    return refuse(400, 'There is a standby key already')
  }
  if (fake.keys.some(({ id }) => id === given.kid)) return refuse(400, 'kid is taken')
  const { crv, x, y, kid = randomUUID() } = given
  const key = newKey(
    algorithm,
    status,
    { kty: 'EC', alg: 'ES256', use: 'sig', kid, crv, x, y },
    now,
  )
  const waits = throttle(fake, now)
  if (waits) return waits
  fake.keys.push({ ...key, id: kid })
  return Response.json({ ...key, id: kid }, { status: 201 })
}

function newKey(algorithm: string, status: Status, jwk: Key['public_jwk'], now: () => Date): Key {
  const at = now().toISOString()
  return { id: randomUUID(), algorithm, status, public_jwk: jwk, created_at: at, updated_at: at }
}

function update(fake: FakeSupabase, now: () => Date, key: Key, { body }: Call): Response {
  const read = updateKey.safeParse(body)
  if (!read.success) return refuse(400, z.prettifyError(read.error))
  const { status } = read.data
  if (!followers[key.status].includes(status)) {
    return refuse(400, `A key that is ${key.status} cannot become ${status}`)
  }
  const waits = throttle(fake, now)
  if (waits) return waits
  const current = fake.keys.find((one) => one.status === 'in_use')
  if (status === 'in_use' && current) current.status = 'previously_used'
  key.status = status
  key.updated_at = now().toISOString()
  return Response.json(key)
}
