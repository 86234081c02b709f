/**
 * The one form of every response: JSON with the fixed headers, a refusal as {error, message}. The `log`
 * text of a refusal is never sent.
 */
import { contractDigest } from '../contract/digest.ts'
import type { Refusal } from '../contract/errors.ts'
import { errorTable, fail } from '../contract/errors.ts'

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
