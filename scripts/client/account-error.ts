/** A refusal of the service, or what kept a call from reaching it, as the client throws it. */
import type { ErrorCode, Operations } from './operations.ts'

/**
 * Codes of the client itself. `network_error`: no answer came, so whether the call had an effect is
 * not known. `timeout`: the same, after the time that the call was given. `unexpected_answer`: what
 * came is not from this service, or from a newer one.
 */
export type LocalCode = 'network_error' | 'timeout' | 'unexpected_answer'

/** What is known of a failed call. */
export type Failure = {
  operation: keyof Operations
  code: ErrorCode | LocalCode
  message: string
  /** Of the HTTP answer; 0 where none came. */
  status: number
  /** What to do next, in words for an agent. */
  hint?: string | undefined
  retryAfterSeconds?: number | undefined
  /** Names the call to the operator of the service. */
  requestId?: string | undefined
  details?: Record<string, unknown> | undefined
  cause?: unknown
}

/** Thrown by every method; `isRefusal` narrows its code to those of one operation. */
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

/** An error of one operation: its code is one that this operation declares, or one of the client. */
export type Refusal<Id extends keyof Operations> = AccountError & {
  readonly operation: Id
  readonly code: Operations[Id]['error'] | LocalCode
}

/** Whether this was thrown by a call of the operation. */
export function isRefusal<Id extends keyof Operations>(
  error: unknown,
  operation: Id,
): error is Refusal<Id> {
  return error instanceof AccountError && error.operation === operation
}
