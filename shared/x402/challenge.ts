/**
 * Reads a challenge of x402 version 1 or 2, tolerantly, from the header or a parsed body. Nothing that is
 * read here is trusted; offers.ts decides what can be paid.
 */
import * as z from 'zod'
import { decodeBytes, decodeText, encodeBase64, parseJson } from '../base64.ts'
import { findChain } from '../chains/registry.ts'
import { fail } from '../contract/errors.ts'
import { isStorable } from '../contract/keepable.ts'
import { sha256Hex } from '../digest.ts'
import { checkUrl, type Egress } from '../egress/safe-fetch.ts'
import type { Offer } from './offer.ts'

/** Payment terms that a server asks for. */
export type Challenge = {
  offers: Offer[]
  /** Error text of the server, which is untrusted. */
  error?: string
}

/** Refusal of a challenge that cannot be read, with the reason. */
export type ChallengeRefusal = ReturnType<typeof fail<'invalid_challenge'>>

const headerLengthMax = 32_768
const offersMax = 32
/** Longest challenge as JSON. It is stored with the payment and echoed. */
const challengeLengthMax = 65_536

const short = z.string().min(1).max(256)
const requirementFields = z.looseObject({
  scheme: short,
  network: short,
  asset: short,
  payTo: short,
  // Version 2 uses amount, version 1 maxAmountRequired (x402 specification, sections 5.1).
  amount: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,77})$/)
    .optional(),
  maxAmountRequired: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,77})$/)
    .optional(),
  maxTimeoutSeconds: z.int().positive(),
  extra: z.record(z.string(), z.unknown()).nullish(),
})

const challengeFields = z.looseObject({
  x402Version: z.union([z.literal(1), z.literal(2)]),
  accepts: z.array(z.unknown()).min(1).max(offersMax),
  resource: z.unknown().optional(),
  extensions: z.unknown().optional(),
  error: z.unknown().optional(),
})

/** Reads a PAYMENT-REQUIRED header. */
export function readChallengeHeader(header: string): Challenge | ChallengeRefusal {
  if (header.length > headerLengthMax)
    return refuseChallenge('The PAYMENT-REQUIRED header is too long.')
  const text = decodeText(header.trim())
  if (text === undefined)
    return refuseChallenge('The PAYMENT-REQUIRED header is not base64 of UTF-8.')
  return readChallenge(parseJson(text))
}

/** Reads a parsed challenge. Some servers send version 2 in the body too. */
export function readChallenge(value: unknown): Challenge | ChallengeRefusal {
  if (!isStorable(value))
    return refuseChallenge('The challenge nests too deeply or holds broken text.')
  if ((JSON.stringify(value)?.length ?? 0) > challengeLengthMax) {
    return refuseChallenge(`The challenge is longer than ${challengeLengthMax} characters.`)
  }
  const parsed = challengeFields.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return refuseChallenge(`The challenge has no valid ${issue?.path.join('.') || 'JSON object'}.`)
  }
  const { x402Version: version, accepts, resource, extensions, error } = parsed.data
  const echoed = {
    version,
    ...(resource === undefined ? {} : { resource }),
    ...(extensions === undefined ? {} : { extensions }),
  }
  const read = accepts.map((entry) => readOffer(entry, echoed))
  const offers = read.filter((one) => typeof one !== 'string')
  const unread = read.find((one) => typeof one === 'string')
  if (offers.length === 0) {
    return refuseChallenge(
      `None of the offers in accepts can be read: the first has no valid ${unread}.`,
    )
  }
  return {
    offers,
    ...(typeof error === 'string' ? { error: error.slice(0, 256).toWellFormed() } : {}),
  }
}

type Echoed = Pick<Offer, 'version' | 'resource' | 'extensions'>

/** Reads an offer, or returns the name of the field for which it cannot be read. */
function readOffer(entry: unknown, echoed: Echoed): Offer | string {
  const parsed = requirementFields.safeParse(entry)
  if (!parsed.success) return parsed.error.issues[0]?.path.join('.') || 'JSON object'
  const { amount, maxAmountRequired, extra, ...fields } = parsed.data
  const stated = amount ?? maxAmountRequired
  // Two prices in one offer: whichever is signed, the server could claim that the other one applies.
  if (stated === undefined || stated !== (maxAmountRequired ?? stated)) return 'amount'
  return {
    protocol: 'x402',
    ...echoed,
    requirement: parsed.data,
    scheme: fields.scheme,
    network: fields.network,
    chain: findChain(fields.network)?.caip2,
    amountAtomic: BigInt(stated),
    asset: fields.asset,
    payTo: fields.payTo,
    maxTimeoutSeconds: fields.maxTimeoutSeconds,
    extra: extra ?? {},
  }
}

function refuseChallenge(message: string): ChallengeRefusal {
  return fail('invalid_challenge', { message })
}

/** HTTP methods that can be paid for. */
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Schema of the request as it is stored between prepare and execute. */
export const frozenRequest = z.object({
  url: z.url(),
  method: z.enum(methods),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body_base64: z.string().nullable(),
})
/** A request that no longer changes. */
export type FrozenRequest = z.output<typeof frozenRequest>

/** The request as an agent describes it. */
export type RequestWish = {
  resourceUrl: string
  method?: (typeof methods)[number] | undefined
  headers?: Record<string, string> | undefined
  body?: string | undefined
  bodyBase64?: string | undefined
}

const headersMax = 32
const headerBytesMax = 8_192
const bodyBytesMax = 65_536

/** Headers that are hop-by-hop (RFC 9110 section 7.6.1), set by the sender, or carry a payment. */
const refusedHeaders =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect|accept-encoding|cookie|cf-.*|x-forwarded-.*|forwarded|via|payment-.*|x-payment.*)$/

/** Freezes a request, or returns a refusal that says what is wrong with it. */
export function freezeRequest(wish: RequestWish, config: Egress) {
  const checked = checkUrl(wish.resourceUrl, config)
  if ('refused' in checked) return fail('resource_refused', { message: checked.refused })
  const { url } = checked
  // A client does not send the fragment (RFC 9110 section 7.1).
  url.hash = ''
  const problem = headersProblem(wish.headers ?? {})
  if (problem !== undefined) return fail('invalid_request', { message: `headers: ${problem}` })
  const body = wishBody(wish)
  const method = wish.method ?? (body === null ? 'GET' : 'POST')
  if (body === undefined || (body?.length ?? 0) > bodyBytesMax) {
    const message = `body: at most ${bodyBytesMax} bytes, as text or as base64`
    return fail('invalid_request', { message })
  }
  if (body !== null && method === 'GET') {
    return fail('invalid_request', { message: 'body: a GET has none' })
  }
  const headers = Object.entries(wish.headers ?? {})
  const bodyBase64 = body === null ? null : encodeBase64(body)
  return { url: url.href, method, headers, body_base64: bodyBase64 } satisfies FrozenRequest
}

function headersProblem(headers: Record<string, string>): string | undefined {
  const entries = Object.entries(headers)
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (entries.length > headersMax || size > headerBytesMax) {
    return `at most ${headersMax} of ${headerBytesMax} bytes together`
  }
  for (const [name, value] of entries) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return `${name} is no header name`
    if (refusedHeaders.test(name.toLowerCase())) return `${name} is set by the service`
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return `${name} has a value that cannot be sent`
  }
  return undefined
}

/** Returns the bytes of the body: null if there is none, undefined if it cannot be decoded. */
function wishBody({ body, bodyBase64 }: RequestWish): Uint8Array<ArrayBuffer> | null | undefined {
  if (bodyBase64 !== undefined) return decodeBytes(bodyBase64)
  return body === undefined ? null : new TextEncoder().encode(body)
}

/** Returns SHA-256 over method, address and body, to which the confirmation of a payment is bound. */
export function requestDigest(request: FrozenRequest): Promise<string> {
  const text = JSON.stringify([request.method, request.url, request.body_base64])
  return sha256Hex(text)
}

/**
 * Returns an id of the resource, under which its price and payee are remembered: SHA-256 over method,
 * origin and path. The query is left out, because it only selects a part of the resource. Spellings that a
 * server may treat as one path get the same id; otherwise a new spelling would look like an unknown
 * resource.
 */
export function resourceDigest({ method, url }: FrozenRequest): Promise<string> {
  const { origin, pathname } = new URL(url)
  const spelled = pathname.replaceAll(/%[0-9a-f]{2}/gi, plainest)
  return sha256Hex(`${method} ${origin}${spelled.replaceAll(/\/+/g, '/').replace(/\/$/, '')}`)
}

/** Decodes an unreserved character, and puts other escapes in capitals (RFC 3986 section 6.2.2). */
function plainest(escape: string): string {
  const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
  return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase()
}

const named = z.looseObject({ url: z.string() })
const resourceField = z.looseObject({ resource: z.string() })

/** The part of frozen terms that the merchant wrote. */
type WrittenResources = { resource?: unknown; requirement?: unknown }

/** Returns true if the challenge names an address on another host than the one that is paid. */
export function namesOtherHost(
  { resource, requirement }: WrittenResources,
  origin: string,
): boolean {
  const { host } = new URL(origin)
  const urls = [
    typeof resource === 'string' ? resource : named.safeParse(resource).data?.url,
    resourceField.safeParse(requirement).data?.resource,
  ]
  // An invalid URL names no host. A relative URL has the host of the origin.
  return urls.some((url) => url !== undefined && (URL.parse(url, origin)?.host ?? host) !== host)
}
