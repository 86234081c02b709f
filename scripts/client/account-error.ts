/** The error that the client throws: a refusal of the service, or why a call did not reach it. */
import type { ErrorCode, Operations } from './operations.ts'

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
