/**
 * The parts of Supabase's Management API that a deployment uses, after its OpenAPI document
 * (https://api.supabase.com/api/v1-json) and the guide "JWT signing keys".
 */
import * as z from 'zod'
import { callPlatform, type PlatformAccess, type PlatformAnswer } from './platform-api.ts'

const projectSchema = z.object({ ref: z.string(), name: z.string(), status: z.string() })
const postgrestSchema = z.object({ db_schema: z.string() })
const signingKeySchema = z.object({
  id: z.uuid(),
  algorithm: z.string(),
  status: z.enum(['in_use', 'previously_used', 'revoked', 'standby']),
  public_jwk: z
    .looseObject({ kid: z.string().optional(), x: z.string().optional(), y: z.string().optional() })
    .nullish(),
})
const apiKeySchema = z.object({ type: z.string().nullish(), api_key: z.string().nullish() })

/** A signing key as the project names it. */
export type SigningKey = z.output<typeof signingKeySchema>

/** A Supabase project and the right to manage it. */
export type SupabaseProject = PlatformAccess & { project: string }

/** Sends a request below the project and returns the answer, whatever its status is. */
export function callProject(
  access: SupabaseProject,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
): Promise<PlatformAnswer> {
  return callPlatform(access, method, `/v1/projects/${access.project}${path}`, body)
}

/** Returns the project's own entry. */
export async function readProject(access: SupabaseProject) {
  return projectSchema.parse(demand('the project', await callProject(access, 'GET', '')))
}

/** Returns the rows of a query that changes nothing, asked by the API; else the status of its refusal. */
export async function queryProject(
  access: SupabaseProject,
  query: string,
): Promise<Record<string, unknown>[] | number> {
  const answer = await callProject(access, 'POST', '/database/query/read-only', { query })
  const read = z.array(z.record(z.string(), z.unknown())).safeParse(answer.body)
  return answer.status < 300 && read.success ? read.data : answer.status
}

/** Returns the schemas that PostgREST exposes. */
export async function exposedSchemas(access: SupabaseProject): Promise<string[]> {
  const answer = await callProject(access, 'GET', '/postgrest')
  const { db_schema } = postgrestSchema.parse(demand('the exposed schemas', answer))
  return db_schema.split(',').flatMap((name) => name.trim() || [])
}

/** Exposes exactly these schemas. */
export async function exposeSchemas(access: SupabaseProject, names: readonly string[]) {
  const body = { db_schema: names.join(',') }
  demand('exposing the schema', await callProject(access, 'PATCH', '/postgrest', body))
}

const signingKeysPath = '/config/auth/signing-keys'

/** Returns all signing keys of the project, in any state. */
export async function readSigningKeys(access: SupabaseProject): Promise<SigningKey[]> {
  const answer = await callProject(access, 'GET', signingKeysPath)
  const schema = z.object({ keys: z.array(signingKeySchema) })
  return schema.parse(demand('the signing keys', answer)).keys
}

/** Makes the old JWT secret of a project the first of its signing keys; a project that has one refuses it. */
export async function adoptLegacySecret(access: SupabaseProject): Promise<void> {
  demand('the JWT secret', await callProject(access, 'POST', `${signingKeysPath}/legacy`))
}

/** Answer to a change of a key: its new state, or the time before which the project changes no key again. */
export type KeyChange = { key: SigningKey } | { notBefore: Date }

/** Imports a private key (JWK) as the key that the next rotation puts into use. */
export async function importStandbyKey(access: SupabaseProject, jwk: object): Promise<KeyChange> {
  const body = { algorithm: 'ES256', status: 'standby', private_jwk: jwk }
  return changeOf(await callProject(access, 'POST', signingKeysPath, body))
}

/** Changes the state of a key; `in_use` rotates it in. */
export async function setKeyStatus(
  access: SupabaseProject,
  id: string,
  status: SigningKey['status'],
): Promise<KeyChange> {
  return changeOf(await callProject(access, 'PATCH', `${signingKeysPath}/${id}`, { status }))
}

/** Changes of keys are throttled for about five minutes, and the refusal names the end of that. */
function changeOf(answer: PlatformAnswer): KeyChange {
  const [, until = ''] = /please wait until (\S+)/i.exec(reasonIn(answer)) ?? []
  const notBefore = new Date(until)
  if (answer.status >= 400 && !Number.isNaN(notBefore.getTime())) return { notBefore }
  return { key: signingKeySchema.parse(demand('a signing key', answer)) }
}

/** Returns the publishable key of the project; undefined if it has none. */
export async function findPublishableKey(access: SupabaseProject): Promise<string | undefined> {
  const answer = await callProject(access, 'GET', '/api-keys?reveal=true')
  const keys = z.array(apiKeySchema).parse(demand('the API keys', answer))
  return keys.find(({ type, api_key }) => type === 'publishable' && api_key)?.api_key ?? undefined
}

/** Returns the publishable key of the project, and makes one if it has none. */
export async function publishableKey(access: SupabaseProject): Promise<string> {
  const known = await findPublishableKey(access)
  if (known !== undefined) return known
  const body = { type: 'publishable', name: 'default' }
  const made = demand(
    'a publishable key',
    await callProject(access, 'POST', '/api-keys?reveal=true', body),
  )
  return z.object({ api_key: z.string() }).parse(made).api_key
}

/** Returns the body of a successful answer. Throws a sentence for any other. */
function demand(what: string, answer: PlatformAnswer): unknown {
  if (answer.status >= 200 && answer.status < 300) return answer.body
  throw new Error(`Supabase refused ${what} (${answer.status}): ${reasonIn(answer)}`)
}

/** Returns the sentence of a refusal. */
export function reasonIn({ body }: PlatformAnswer): string {
  const { message } = z
    .object({ message: z.string() })
    .catch({ message: 'no reason given' })
    .parse(body)
  return message
}
