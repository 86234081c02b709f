import { Rejection } from '../../shared/contract/errors.ts'
import { fixedHeaders } from '../../shared/http/answer.ts'
import { type OAuthError, oauthErrors } from '../../shared/oauth/answer.ts'
import type { OAuthContext } from './frame.ts'

/** Answers JSON that must not be cached (RFC 6749 section 5.1). */
export function answerJson(c: OAuthContext, body: object, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: fixedHeaders(c.get('requestId')) })
}

/** Answers an error of the OAuth protocol with its HTTP status. */
export function answerOAuthError(c: OAuthContext, error: OAuthError): Response {
  return answerJson(c, error, oauthErrors[error.error])
}

/** Answers errors that no endpoint returns itself: rate limits, a silent database, a bug. */
export function answerFailure(c: OAuthContext, error: unknown): Response {
  const refusal = error instanceof Rejection ? error.refusal : undefined
  const log = refusal ? refusal.log : error instanceof Error ? String(error.stack) : String(error)
  if (log !== undefined) {
    c.get('world').log({ requestId: c.get('requestId'), operation: 'oauth', log })
  }
  const [code, status] = codeOf(refusal?.refusal)
  const answer = answerJson(c, { error: code, error_description: 'Try again later.' }, status)
  const seconds = refusal?.retryAfterSeconds
  if (seconds !== undefined) answer.headers.set('retry-after', String(seconds))
  return answer
}

function codeOf(refusal: string | undefined): [code: string, status: number] {
  if (refusal === 'rate_limited') return ['temporarily_unavailable', 429]
  if (refusal === 'unavailable') return ['temporarily_unavailable', 503]
  return ['server_error', 500]
}
