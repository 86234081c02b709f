/**
 * The one form of every response: JSON with the fixed headers, a refusal as {error, message}. The `log`
 * text of a refusal is never sent.
 */
import { proofAlgorithms } from '../auth/access-token.ts'
import { contractDigest } from '../contract/digest.ts'
import { wellKnownOf } from '../contract/documents/about.ts'
import { errorTable, fail, type Refusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'

/** Returns the headers of every response; answers hold money, so nobody may cache or frame them. */
export function fixedHeaders(requestId: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=63072000; includeSubDomains',
    'x-content-type-options': 'nosniff',
    'x-contract-digest': contractDigest,
    'x-request-id': requestId,
  }
}

/** Builds a successful response. */
export function answer(body: string, requestId: string): Response {
  return new Response(body, { status: 200, headers: fixedHeaders(requestId) })
}

/**
 * Builds the error response of a refusal (functions/README.md), with hints on how to go on. `challenge` is
 * its WWW-Authenticate header, if it has one.
 */
export function refuse(refusal: Refusal, requestId: string, challenge?: string): Response {
  const [status, sentence] = errorTable[refusal.refusal]
  const { message = sentence, hint, retryAfterSeconds, details } = refusal
  const body = {
    error: refusal.refusal,
    message,
    request_id: requestId,
    ...(hint === undefined ? {} : { hint }),
    ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
    ...(details === undefined ? {} : { details }),
  }
  const headers = fixedHeaders(requestId)
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  if (challenge !== undefined) headers['www-authenticate'] = challenge
  if (typeof details?.['allow'] === 'string') headers['allow'] = details['allow']
  return new Response(JSON.stringify(body), { status, headers })
}

/** Returns the 404 refusal that names the path form of the operation. */
export function wrongPath(path: string): Refusal {
  return fail('not_found', { hint: `The path is {base_url}${path}; there is no version in it.` })
}

/** Path of the tools: people also paste it with a slash. */
export type McpPath = '/mcp' | '/mcp/'

/** Returns the path as the client named it; `address` is its URL or path. */
export function mcpPathOf(address: string): McpPath {
  return address.endsWith('/') ? '/mcp/' : '/mcp'
}

/** The request that was refused. */
export type RefusedRequest = {
  /** The scope that the request needs; a wider scope covers it. */
  scope: string
  /** The Authorization header as it came. */
  authorization: string | undefined
  /** Path of the resource that was requested; absent for operations. */
  resource?: McpPath
}

/** Returns the WWW-Authenticate header of a refusal; undefined if another token would not help. */
export function wwwAuthenticateOf(
  { BASE_URL }: Pick<Config, 'BASE_URL'>,
  { refusal }: Refusal,
  { scope, authorization, resource }: RefusedRequest,
): string | undefined {
  if (refusal !== 'unauthorized' && refusal !== 'insufficient_scope') return undefined
  const code = refusal === 'unauthorized' ? 'invalid_token' : 'insufficient_scope'
  const error = authorization === undefined ? [] : [`error="${code}"`]
  const isProven = /^dpop /i.test(authorization ?? '')
  const { protectedResource } = wellKnownOf(BASE_URL)
  const rest = [`scope="${scope}"`, `resource_metadata="${protectedResource}${resource ?? ''}"`]
  const bearer = [...(isProven ? [] : error), ...rest].join(', ')
  const dpop = [...(isProven ? error : []), `algs="${proofAlgorithms.join(' ')}"`, ...rest].join(
    ', ',
  )
  return `Bearer ${bearer}, DPoP ${dpop}`
}

/** The wildcard covers no Authorization header (Fetch standard, section 3.2.4). */
const headersOfAnyOrigin = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
  'access-control-allow-headers': '*, authorization',
  'access-control-expose-headers': '*',
  'access-control-max-age': '3600',
}

/** Lets pages of any origin send the request and read the whole response. */
export function allowAnyOrigin(headers: Headers): void {
  for (const [name, value] of Object.entries(headersOfAnyOrigin)) headers.set(name, value)
}
