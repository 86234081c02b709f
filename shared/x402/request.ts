/**
 * Freezes the paid request at prepare, so that execute sends it unchanged: address, method, headers and
 * body to the byte. Headers that a client must not choose, or that would carry a payment, are refused.
 */
import * as z from 'zod'
import { decodeBytes, encodeBase64 } from '../base64.ts'
import { fail } from '../contract/errors.ts'
import { sha256Hex } from '../digest.ts'
import { checkUrl } from '../egress/safe-fetch.ts'
import type { Config } from '../env.ts'

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
export function freezeRequest(wish: RequestWish, config: Pick<Config, 'allowLoopback'>) {
  const checked = checkUrl(wish.resourceUrl, config)
  if ('refused' in checked) return fail('resource_refused', { message: checked.refused })
  const { url } = checked
  // A client does not send the fragment (RFC 9110 section 7.1).
  url.hash = ''
  const problem = headersProblem(wish.headers ?? {})
  if (problem !== undefined) return fail('invalid_request', { message: `headers: ${problem}` })
  const body = bodyOf(wish)
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
function bodyOf({ body, bodyBase64 }: RequestWish): Uint8Array<ArrayBuffer> | null | undefined {
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
