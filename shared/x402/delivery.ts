/**
 * Fetches the payment terms of a resource, and sends the paid request. No other file of x402 fetches. Both
 * go through the guarded client, so a payment never follows a redirect to another address.
 */
import * as z from 'zod'
import { decodeBytes, decodeText, parseJson } from '../base64.ts'
import { wordSchema } from '../chains/hex.ts'
import {
  type Fetched,
  type FetchedAnswer,
  type Limits,
  type Outside,
  safeFetch,
} from '../egress/safe-fetch.ts'
import { cut } from '../text/untrusted.ts'
import type { FrozenRequest } from './challenge.ts'
import type { Header } from './payload.ts'

const challengeLimits = { timeoutMilliseconds: 8_000, bytesMax: 262_144 }
/**
 * Longest wait for a paid answer, whatever the offer allows, since an exchange over MCP ends after two minutes
 * and some hosts end a silent request soon after that. The same payment is then sent again.
 */
const deliverySecondsMax = 100
/** Longest paid answer. The rest of a longer one is not read, which the contract says. */
const deliveryBytesMax = 8_388_608
/**
 * Longest piece of a paid answer. The first is stored with the payment, and again with an Idempotency-Key,
 * each in one database call; the others one by one.
 */
const pieceBytesMax = 393_216

/** Cuts a body into pieces, never within a character of UTF-8. */
export function piecesOf(body: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let start = 0; start === 0 || start < body.length; ) {
    let end = start + pieceBytesMax
    // Bytes 10xxxxxx continue a character, of which they are three at most (RFC 3629).
    for (let back = 0; back < 3 && ((body[end] ?? 0) & 0xc0) === 0x80; back += 1) end -= 1
    pieces.push(body.subarray(start, end))
    start = end
  }
  return pieces
}

/** Sends the request without a payment. */
export function fetchUnpaid(world: Outside, request: FrozenRequest): Promise<Fetched> {
  return fetchGuarded(world, request, [], challengeLimits)
}

/** Returns an answer in the form from which its terms are read. */
export function paymentRequiredOf({ headers, body }: FetchedAnswer) {
  return { headers, body: parseJson(new TextDecoder().decode(body)) }
}

/** Sends the frozen request with the payment headers, and waits as long as the offer lets the merchant. */
export function sendPaid(
  world: Outside,
  request: FrozenRequest,
  payment: readonly Header[],
  offeredSeconds: number,
): Promise<Fetched> {
  const timeoutMilliseconds = Math.min(offeredSeconds, deliverySecondsMax) * 1_000
  const limits = { timeoutMilliseconds, bytesMax: deliveryBytesMax, isPaidFor: true }
  return fetchGuarded(world, request, payment, limits)
}

function fetchGuarded(
  world: Outside,
  request: FrozenRequest,
  added: readonly Header[],
  limits: Limits,
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

/** As long as all headers of an answer together may be where Node is the client. */
const headerLengthMax = 16_384

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

/** Returns the headers of the answer of `url` that are passed on to the agent, Location as a whole address. */
export function headersKept(headers: Pick<Headers, 'get'>, url: string): Record<string, string> {
  const valueOf = (name: string) => {
    const value = headers.get(name)
    return value === null || name !== 'location' ? value : (URL.parse(value, url)?.href ?? value)
  }
  const found = keptHeaders.map((name) => [name, cutHeader(valueOf(name))] as const)
  return Object.fromEntries(
    found.filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** Cuts a value to the longest length, without a lone surrogate, which could not be stored. */
function cutHeader(value: string | null): string | undefined {
  return value === null ? undefined : cut(value, headerLengthMax).toWellFormed()
}

const settlementFields = z.looseObject({
  success: z.boolean().optional(),
  transaction: wordSchema.optional().catch(undefined),
  errorReason: z.string().max(256).optional().catch(undefined),
  errorMessage: z.string().max(1024).optional().catch(undefined),
})

/** A server's claim about the settlement. */
export type SettlementHint = z.output<typeof settlementFields>

const hintLengthMax = 16_384

/** True if the server says how settling went, so that it was tried, even if what it says cannot be read. */
export function hasSettlementHint(headers: Pick<Headers, 'get'>): boolean {
  return hintHeaders.some((name) => headers.get(name) !== null)
}

const hintHeaders = ['payment-response', 'x-payment-response', 'payment-receipt']

/** Returns the server's claim about the settlement; undefined if there is none that can be read. */
export function readSettlementHint(headers: Pick<Headers, 'get'>): SettlementHint | undefined {
  const claim = headers.get('payment-response') ?? headers.get('x-payment-response')
  const header = claim ?? headers.get('payment-receipt')
  if (header === null || header.length > hintLengthMax) return undefined
  const read = parseJson(decodeText(header) ?? '')
  if (claim === null) return readReceipt(read)
  const parsed = settlementFields.safeParse(read)
  return parsed.success ? parsed.data : undefined
}

const receiptFields = z.looseObject({
  status: z.string(),
  reference: wordSchema.optional().catch(undefined),
})

/** Reads an MPP receipt as the same kind of claim. `reference` is the transaction. */
function readReceipt(value: unknown): SettlementHint | undefined {
  const parsed = receiptFields.safeParse(value)
  if (!parsed.success) return undefined
  const { status, reference } = parsed.data
  return { success: status === 'success', transaction: reference }
}
