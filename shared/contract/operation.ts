/**
 * The shape of an operation's contract: plain data that the pipeline enforces and from which documents,
 * tools and tests are made. A contract holds no behaviour.
 */
import type * as z from 'zod'
import type { ErrorCode } from './errors.ts'
import type { GapId } from './gaps.ts'
import type { Access } from './scopes.ts'

/**
 * An effect of a call: `destructive` cannot be undone, `outward` reaches merchants, sites or people beyond the
 * account and its chains. Of operations without an Idempotency-Key, each call of one that is `adding` changes
 * something more; a second call of one that is `repeatable` changes nothing, with or without a key.
 */
export type Effect = 'destructive' | 'outward' | 'adding' | 'repeatable'

/** One operation: its path, its callers, its input, answer and errors. */
export type Operation<
  Request extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Errors extends ErrorCode = ErrorCode,
> = {
  /** The tool name, snake_case. */
  id: string
  method: 'GET' | 'POST'
  /** The path below the base address, and the folder below functions/. */
  folder: string
  access: Access
  /** True if it takes an Idempotency-Key; the first answer is then kept for 24 hours. */
  mutates?: true
  /** The capability to which it belongs; the pipeline adds that status to answers. */
  gap?: GapId
  effects?: readonly Effect[]
  /** Functions it calls, and secrets and vars it reads, beyond those that its access implies. */
  needs?: readonly string[]
  /** Documents list operations in ascending order of it. */
  position: number
  summary: string
  /** Schema of a GET's query parameters or a POST's JSON body. */
  request: Request
  /** Schema of the handler's answer; `fullResponseOf` adds the fields of the pipeline. */
  response: Response
  /** Its own codes; `commonErrors` adds those of the pipeline. */
  errors: readonly Errors[]
}

/** Declares an operation; returns the argument unchanged, with its literal types. */
export function operation<
  Request extends z.ZodType,
  Response extends z.ZodType,
  const Errors extends ErrorCode,
>(contract: Operation<Request, Response, Errors>): Operation<Request, Response, Errors> {
  return contract
}

/** Needs of an operation that sends a transfer, by a relayer or with the wallet's own gas. */
export const transferNeeds: readonly string[] = [
  'CUSTODY',
  'MAILER',
  'OUTBOX_KEY',
  'CHAIN_RPC_URLS',
  'EUR_USD_RATE',
  'YIELD_VAULTS',
  'GAS_USD_MAX',
  'NATIVE_USD_RATES',
]

/** Returns the name of the service binding by which a function reaches that of a folder. */
export function serviceBinding(folder: string): string {
  return folder.toUpperCase().replaceAll('-', '_')
}

/** Returns the codes that the pipeline itself may answer for an operation. */
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
