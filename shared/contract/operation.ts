/**
 * The shape of one operation's contract: plain data that the pipeline enforces and that documents,
 * tools and tests are made from. A contract holds no behaviour.
 */
import type * as z from 'zod'
import type { ErrorCode } from './errors.ts'
import type { GapId } from './gaps.ts'
import type { Access } from './scopes.ts'

/** One operation: where it is reached, who may call it, what it takes, answers and refuses. */
export type Operation<
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Errors extends ErrorCode = ErrorCode,
> = {
  /** The tool name, snake_case. */
  id: string
  method: 'GET' | 'POST'
  /** The path below the base address and the folder below functions/. */
  folder: string
  access: Access
  /** Takes an Idempotency-Key: the answer to a first call is kept for 24 hours. */
  mutates?: true
  /** The capability that it belongs to; the pipeline adds to an answer how that stands. */
  gap?: GapId
  summary: string
  /** Query parameters of a GET, JSON body of a POST. */
  request: Request
  /** What its handler answers; `answerOf` adds what every caller is told. */
  response: Response
  /** Codes of its own; `commonErrors` adds those of the pipeline. */
  errors: readonly Errors[]
}

/** Declares an operation; the argument is returned as it is, with its literal types. */
export function operation<
  Request extends z.ZodType,
  Response extends z.ZodType,
  const Errors extends ErrorCode,
>(contract: Operation<Request, Response, Errors>): Operation<Request, Response, Errors> {
  return contract
}

/** The codes that the pipeline itself may answer for an operation. */
export function commonErrors(contract: Operation): ErrorCode[] {
  return [
    'invalid_request',
    'method_not_allowed',
    'not_found',
    'rate_limited',
    'internal_error',
    'unavailable',
    ...(contract.access === 'public' ? [] : (['unauthorized'] as const)),
    ...(contract.access === 'public' || contract.access === 'any'
      ? []
      : (['insufficient_scope'] as const)),
    ...(contract.method === 'POST'
      ? (['payload_too_large', 'unsupported_media_type'] as const)
      : []),
    ...(contract.mutates ? (['conflict', 'idempotency_mismatch', 'account_frozen'] as const) : []),
  ]
}
