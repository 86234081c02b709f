/**
 * The shape of one operation's contract: plain data that the pipeline enforces and that documents,
 * tools and tests are made from. A contract holds no behaviour.
 */
import * as z from 'zod'
import type { ErrorCode } from './errors.ts'
import type { GapId } from './gaps.ts'
import { gapStatuses, gaps } from './gaps.ts'
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
  /** What its handler answers; a caller gets `answerOf` it. */
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

/**
 * What a caller is answered: the response with the gap and its status on the chain that the answer
 * names, else as a whole. Of a capability that can be live it is told only while it is not.
 */
export function answerOf({ gap, response }: Operation): z.ZodType {
  if (gap === undefined) return response
  const named = z.object({ gap_id: z.literal(gap), gap_status: z.enum(gapStatuses) })
  const told = gaps[gap].best === 'live' ? named.partial() : named
  if (!(response instanceof z.ZodObject)) throw new Error(`${gap}: an answer is an object`)
  return response.extend(told.shape)
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
