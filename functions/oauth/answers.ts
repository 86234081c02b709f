import { Rejection } from '../../shared/contract/errors.ts'
import { fixedHeaders } from '../../shared/http/answer.ts'
import type { OAuthError } from '../../shared/oauth/answer.ts'
import { oauthErrors } from '../../shared/oauth/answer.ts'
import type { Received } from './frame.ts'

/** JSON that nobody keeps (RFC 6749 section 5.1). */
export function told(c: Received, body: object, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: fixedHeaders(c.get('requestId')) })
}

/** An error of the protocol. */
export function toldWrong(c: Received, error: OAuthError): Response {
  return told(c, error, oauthErrors[error.error])
}

/** What no endpoint says of itself: too many requests, a database that does not answer, a bug. */
export function failed(c: Received, error: unknown): Response {
  const refusal = error instanceof Rejection ? error.refusal : undefined
  const log = refusal ? refusal.log : error instanceof Error ? String(error.stack) : String(error)
  if (log !== undefined) {
    c.get('world').log({ requestId: c.get('requestId'), operation: 'oauth', log })
  }
  const [code, status] = codeOf(refusal?.refusal)
  const answer = told(c, { error: code, error_description: 'Try again later.' }, status)
  const seconds = refusal?.retryAfterSeconds
  if (seconds !== undefined) answer.headers.set('retry-after', String(seconds))
  return answer
}

function codeOf(refusal: string | undefined): [code: string, status: number] {
  if (refusal === 'rate_limited') return ['temporarily_unavailable', 429]
  if (refusal === 'unavailable') return ['temporarily_unavailable', 503]
  return ['server_error', 500]
}

/**
 * A program in a browser may be a client: nothing here goes by a cookie, so any origin may ask and
 * read.
 */
export function forEverybody(c: Received): void {
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
    'access-control-allow-headers': 'authorization, content-type, dpop, mcp-protocol-version',
    'access-control-max-age': '3600',
  }
  for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value)
}
