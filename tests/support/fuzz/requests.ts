/**
 * Draws requests from a seed: valid ones, edge cases, wrong fields, bodies that are not JSON or ambiguous,
 * other media types, methods and paths, and every kind of token.
 */
import type { Random } from '../seed.ts'
import type { Described } from './described.ts'
import { hostileTexts } from './texts.ts'
import {
  chance,
  edgeValue,
  oneOf,
  rightObject,
  type Schema,
  type Source,
  wrongValue,
} from './values.ts'

export type Asked = {
  path: string
  init: { method: string; headers: Headers; body?: string | Uint8Array<ArrayBuffer> }
}

/** Bearer tokens; those of `good` are accepted wherever their scope allows. */
export type Tokens = { good: readonly string[]; bad: readonly string[] }

export function requestOf(described: Described, tokens: Tokens, source: Source): Asked {
  const { random } = source
  const method = chance(random, 2) ? oneOf(random, otherMethods) : described.method
  const path = chance(random, 1) ? `${described.path}${oneOf(random, otherPaths)}` : described.path
  const headers = headersOf(tokens, random)
  const input = inputOf(described.request, source)
  if (described.method === 'GET') {
    return { path: `${path}?${queryOf(input, random)}`, init: { method, headers } }
  }
  const body = chance(random, 8) ? oddBody(input, random) : JSON.stringify(input)
  headers.set('content-type', chance(random, 4) ? oneOf(random, otherTypes) : 'application/json')
  if (chance(random, 1)) headers.delete('content-type')
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return { path, init: { method, headers, ...(hasBody ? { body } : {}) } }
}

const otherMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'QUERY'] as const
const otherPaths = [
  '/',
  '/more',
  '//',
  '/..',
  '%00',
  '/%2e%2e',
  '.json',
  ';a=b',
  '/\u{1f600}',
] as const
const otherTypes = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json, text/plain',
  'application/jsonp',
  'APPLICATION/JSON',
  'application/cbor',
  '*/*',
] as const

function headersOf(tokens: Tokens, random: Random): Headers {
  const headers = new Headers({ 'user-agent': 'guarantee/1.0' })
  const kind = random.between(1, 100)
  if (kind <= 85) headers.set('authorization', `Bearer ${oneOf(random, tokens.good)}`)
  else if (kind <= 95) headers.set('authorization', `Bearer ${oneOf(random, tokens.bad)}`)
  else if (kind <= 98) headers.set('authorization', oneOf(random, otherSchemes))
  if (chance(random, 20)) headers.set('idempotency-key', oneOf(random, idempotencyKeys(random)))
  if (chance(random, 5))
    headers.set('x-device-id', oneOf(random, ['phone', 'x'.repeat(2_000), ' ']))
  // Each network has its own allowance of requests without a token.
  headers.set('cf-connecting-ip', `192.0.2.${random.between(0, 255)}:${random.between(0, 1e6)}`)
  return headers
}

const otherSchemes = ['Bearer', 'Bearer ', 'Basic YTpi', 'bearer a b', 'DPoP x', 'Token x'] as const

/** Returns idempotency keys: mostly some that recur with another body, sometimes invalid ones. */
function idempotencyKeys(random: Random) {
  return [
    `key-${random.between(0, 400)}`,
    `key-${random.between(0, 40)}`,
    'x'.repeat(300),
    'a b',
  ] as const
}

function inputOf(of: Schema, source: Source): Record<string, unknown> {
  const { random } = source
  const input = rightObject(of, source)
  const names = Object.keys(of.properties ?? {})
  const kind = random.between(1, 100)
  if (kind <= 50) return input
  const name = oneOf(random, names)
  if (kind <= 68 && name !== undefined) {
    input[name] = edgeValue(of.properties?.[name] ?? {}, name, source)
  } else if (kind <= 86 && name !== undefined) input[name] = wrongValue(source)
  else if (kind <= 92) delete input[oneOf(random, Object.keys(input)) ?? '']
  else input[oneOf(random, hostileTexts)] = wrongValue(source)
  return input
}

function queryOf(input: Record<string, unknown>, random: Random): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    query.append(name, text)
    if (chance(random, 3)) query.append(name, text)
  }
  const text = query.toString()
  return chance(random, 2) ? `${text}&%zz=%&&=&a[]=1&limit` : text
}

/** Returns a body that is duplicated, truncated, nested, huge or not UTF-8. */
function oddBody(input: Record<string, unknown>, random: Random): string | Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(input)
  const inside = text.slice(1, -1)
  return oneOf(random, [
    text.slice(0, random.between(0, text.length)),
    inside === '' ? text : `{${inside},${inside}}`,
    `[${text}]`,
    `{"__proto__":{"amount":"1"},"constructor":${text}}`,
    `${text}${text}`,
    `\ufeff${text}`,
    `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    `${text.slice(0, -1)}${inside === '' ? '' : ','}"filling":"${'x'.repeat(140_000)}"}`,
    text.replaceAll(/\d+/g, '1e400'),
    text.replaceAll('"', "'"),
    'null',
    '"text"',
    '0',
    '',
    ' \n\t ',
    new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    new Uint8Array(Buffer.from(text, 'utf16le')),
  ] as const)
}
