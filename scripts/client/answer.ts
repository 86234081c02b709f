/** Reads an HTTP answer of the service: the answer of the operation, or why there is none. */
import { AccountError, type Failure } from './account-error.ts'
import { errorCodes, type Operations } from './operations.ts'

/** Returns the JSON object that came with 200. Throws an AccountError for everything else. */
export async function readAnswer(
  operation: keyof Operations,
  response: Response,
): Promise<Record<string, unknown>> {
  const text = await response.text()
  const body = jsonObject(text)
  if (response.status === 200 && body) return body
  throw new AccountError(failureOf(operation, response, body ?? {}))
}

function failureOf(
  operation: keyof Operations,
  { status, headers }: Response,
  { error, message, hint, request_id, retry_after_seconds, details }: Record<string, unknown>,
): Failure {
  return {
    operation,
    code: errorCodes.find((known) => known === error) ?? 'unexpected_answer',
    status,
    message: stringOf(message) ?? `The answer with status ${status} is not one of this service.`,
    hint: stringOf(hint),
    requestId: stringOf(request_id ?? headers.get('x-request-id')),
    retryAfterSeconds: secondsOf(retry_after_seconds ?? headers.get('retry-after')),
    details: isObject(details) ? details : {},
  }
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Reads delay-seconds of RFC 9110, section 10.2.3. A date counts as no value. */
function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined
}
