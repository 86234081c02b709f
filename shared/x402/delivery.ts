/**
 * The one file of x402 that fetches: the challenge of a resource, and the paid request. Both go
 * through the guarded client, so a payment never follows a redirect to another place.
 */

import { decodeBytes } from '../base64.ts'
import { fail } from '../contract/errors.ts'
import type { Fetched, Outside } from '../http/safe-fetch.ts'
import { safeFetch } from '../http/safe-fetch.ts'
import { readChallengeAnswer } from './challenge.ts'
import type { FrozenRequest } from './request.ts'

const challengeLimits = { timeoutMilliseconds: 8_000, bytesMax: 262_144 }
/**
 * Settling on chain happens inside the merchant's answer, so it may take its time. The body is kept
 * with the payment, and a second time with an Idempotency-Key, each in one call to the database.
 */
const deliveryLimits = { timeoutMilliseconds: 30_000, bytesMax: 393_216 }

/** Asks for the resource without paying. */
export function fetchChallenge(world: Outside, request: FrozenRequest): Promise<Fetched> {
  return send(world, request, [], challengeLimits)
}

/** The challenge as the resource gives it now, or why there is none. */
export async function askChallenge(world: Outside, request: FrozenRequest) {
  const fetched = await fetchChallenge(world, request)
  switch (fetched.kind) {
    case 'refused':
      return fail('resource_refused', { message: fetched.reason })
    case 'timeout':
      return fail('resource_unavailable', { message: 'The resource did not answer in time.' })
    case 'unreachable':
      return fail('resource_unavailable', { log: fetched.reason })
    case 'redirected':
      return fail('resource_unavailable', {
        message: `The resource redirects to ${(fetched.location ?? 'nowhere').slice(0, 200)}.`,
        hint: 'Prepare the payment with the address that it leads to, if you trust it.',
      })
    case 'answered':
      if (fetched.status === 402) return readChallengeAnswer(fetched.headers, fetched.body)
      return fail('no_payment_required', { details: { status: fetched.status } })
  }
}

/** Sends the frozen request with the payment header. */
export function sendPaid(
  world: Outside,
  request: FrozenRequest,
  payment: readonly [string, string],
): Promise<Fetched> {
  return send(world, request, [payment], deliveryLimits)
}

function send(
  world: Outside,
  request: FrozenRequest,
  added: ReadonlyArray<readonly [string, string]>,
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

/** Headers of a merchant's answer that an agent has a use for. */
const keptHeaders = [
  'content-type',
  'content-language',
  'content-disposition',
  'etag',
  'last-modified',
  'link',
  'location',
  'payment-response',
  'retry-after',
  'x-payment-response',
]

/** The headers that are passed on. */
export function headersKept(headers: Pick<Headers, 'get'>): Record<string, string> {
  const found = keptHeaders.map((name) => [name, headers.get(name)?.slice(0, 8_192)] as const)
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
