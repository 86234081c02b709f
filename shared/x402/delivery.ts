/**
 * The one file of x402 that fetches: what a resource asks for, and the paid request. Both go
 * through the guarded client, so a payment never follows a redirect to another place.
 */

import { decodeBytes, parseJson } from '../base64.ts'
import type { Fetched, Outside } from '../egress/safe-fetch.ts'
import { safeFetch } from '../egress/safe-fetch.ts'
import { cut } from '../mail/untrusted.ts'
import type { Header } from './payload.ts'
import type { FrozenRequest } from './request.ts'

const challengeLimits = { timeoutMilliseconds: 8_000, bytesMax: 262_144 }
/**
 * Settling on chain happens inside the merchant's answer, so it may take its time. The body is kept
 * with the payment, and a second time with an Idempotency-Key, each in one call to the database.
 */
const deliveryLimits = { timeoutMilliseconds: 30_000, bytesMax: 393_216 }

/** Asks for the resource without paying. */
export function fetchUnpaid(world: Outside, request: FrozenRequest): Promise<Fetched> {
  return send(world, request, [], challengeLimits)
}

/** An answer as what it asks for is read from it. */
export function askingOf({ headers, body }: Fetched & { kind: 'answered' }) {
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

/** Headers of a merchant's answer that an agent has a use for. */
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

/** The headers that are passed on. */
export function headersKept(headers: Pick<Headers, 'get'>): Record<string, string> {
  const found = keptHeaders.map((name) => [name, cutHeader(headers.get(name))] as const)
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** At most so much of a value, never half a character, which nothing could keep. */
function cutHeader(value: string | null): string | undefined {
  return value === null ? undefined : cut(value, headerLengthMax).toWellFormed()
}
