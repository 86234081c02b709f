/**
 * Fetches the payment terms of a resource, and sends the paid request. No other file of x402 fetches. Both
 * go through the guarded client, so a payment never follows a redirect to another address.
 */

import { decodeBytes, parseJson } from '../base64.ts'
import type { Fetched, Outside } from '../egress/safe-fetch.ts'
import { safeFetch } from '../egress/safe-fetch.ts'
import { cut } from '../mail/untrusted.ts'
import type { Header } from './payload.ts'
import type { FrozenRequest } from './request.ts'

const challengeLimits = { timeoutMilliseconds: 8_000, bytesMax: 262_144 }
/**
 * Limits of the paid request. The merchant may settle on chain before it answers, so the time is long. The
 * body is stored with the payment, and again with an Idempotency-Key, each in one database call.
 */
const deliveryLimits = { timeoutMilliseconds: 30_000, bytesMax: 393_216 }

/** Sends the request without a payment. */
export function fetchUnpaid(world: Outside, request: FrozenRequest): Promise<Fetched> {
  return send(world, request, [], challengeLimits)
}

/** Returns an answer in the form from which its terms are read. */
export function paymentRequiredOf({ headers, body }: Fetched & { kind: 'answered' }) {
  return { headers, body: parseJson(new TextDecoder().decode(body)) }
}

/** Sends the frozen request with the payment headers. */
export function sendPaid(
  world: Outside,
  request: FrozenRequest,
  payment: readonly Header[],
): Promise<Fetched> {
  return send(world, request, payment, deliveryLimits)
}

function send(
  world: Outside,
  request: FrozenRequest,
  added: readonly Header[],
  limits: typeof challengeLimits,
): Promise<Fetched> {
  const body = request.body_base64 === null ? undefined : decodeBytes(request.body_base64)
  return safeFetch(
    world,
    {
      url: new URL(request.url),
      method: request.method,
      headers: [...request.headers, ...added],
      ...(body === undefined ? {} : { body }),
    },
    limits,
  )
}

const headerLengthMax = 8_192

/** Headers of a merchant's answer that are useful to an agent. */
const keptHeaders = [
  'content-type',
  'content-language',
  'content-disposition',
  'etag',
  'last-modified',
  'link',
  'location',
  'payment-receipt',
  'payment-response',
  'retry-after',
  'x-payment-response',
]

/** Returns the headers that are passed on to the agent. */
export function headersKept(headers: Pick<Headers, 'get'>): Record<string, string> {
  const found = keptHeaders.map((name) => [name, cutHeader(headers.get(name))] as const)
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** Cuts a value to the longest length, without a lone surrogate, which could not be stored. */
function cutHeader(value: string | null): string | undefined {
  return value === null ? undefined : cut(value, headerLengthMax).toWellFormed()
}
