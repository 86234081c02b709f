/** The error that the client throws: a refusal of the service, or why a call did not reach it. */
import { type ErrorCode, errorCodes, type Operations } from './operations.ts'

/**
 * Codes of the client itself. `network_error`: no answer came, so it is not known whether the call had an
 * effect. `timeout`: the same, after the time that the call was given. `unexpected_answer`: the answer is
 * not from this service, or from a newer version of it.
 */
export type LocalCode = 'network_error' | 'timeout' | 'unexpected_answer'

/** Facts about a failed call. */
export type Failure = {
  operation: keyof Operations
  code: ErrorCode | LocalCode
  message: string
  /** Status of the HTTP answer; 0 if none came. */
  status: number
  /** Next step for an agent, in words. */
  hint?: string | undefined
  retryAfterSeconds?: number | undefined
  /** Identifies the call to the operator of the service. */
  requestId?: string | undefined
  details?: Record<string, unknown> | undefined
  cause?: unknown
}

/** Error that every method throws; `isRefusal` narrows its code to those of one operation. */
export class AccountError extends Error {
  override readonly name = 'AccountError'
  readonly operation: keyof Operations
  readonly code: ErrorCode | LocalCode
  readonly status: number
  readonly hint: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly requestId: string | undefined
  readonly details: Record<string, unknown>

  constructor({ message, cause, ...failure }: Failure) {
    super(message, cause === undefined ? {} : { cause })
    this.operation = failure.operation
    this.code = failure.code
    this.status = failure.status
    this.hint = failure.hint
    this.retryAfterSeconds = failure.retryAfterSeconds
    this.requestId = failure.requestId
    this.details = failure.details ?? {}
  }
}

/** Error of one operation. Its code is one that this operation declares, or one of the client. */
export type Refusal<Id extends keyof Operations> = AccountError & {
  readonly operation: Id
  readonly code: Operations[Id]['error'] | LocalCode
}

/** Decides whether a call of this operation threw the error. */
export function isRefusal<Id extends keyof Operations>(
  error: unknown,
  operation: Id,
): error is Refusal<Id> {
  return error instanceof AccountError && error.operation === operation
}

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

/** Returns true for an object that is not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
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
