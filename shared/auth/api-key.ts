/**
 * API keys: `aoa_live_` or `aoa_test_`, then the common token form. Of a key, as of every token, the
 * database stores only the HMAC-SHA-256 under a pepper.
 */
import { toHex } from '../digest.ts'

/** Makes a key from random bytes; `kind` is live or test. */
export function createApiKey(
  kind: 'live' | 'test',
  randomBytes: (length: number) => Uint8Array,
): string {
  return randomToken(`aoa_${kind}_`, randomBytes)
}

/** True if the token has the form and checksum of an API key. */
export function isApiKey(token: string): boolean {
  return isToken('aoa_live_', token) || isToken('aoa_test_', token)
}

/** Returns the part of a key that may be shown after its creation. */
export function shownPart(key: string): string {
  return `${key.slice(0, 9)}…${key.slice(-4)}`
}

/** Returns the credential of a key or token in the database: HMAC-SHA-256 in lower-case hex. */
export async function credentialOf(key: string, pepper: string): Promise<string> {
  const secret = await hmacKey(pepper)
  return toHex(await crypto.subtle.sign('HMAC', secret, encoder.encode(key)))
}

const encoder = new TextEncoder()
const hmac = { name: 'HMAC', hash: 'SHA-256' }
type HmacKey = ReturnType<typeof crypto.subtle.importKey>
/** Keys by pepper: an isolate has one, and importing it each time costs more than the HMAC. */
const imported = new Map<string, HmacKey>()

function hmacKey(pepper: string): HmacKey {
  const known = imported.get(pepper)
  if (known) return known
  const key = crypto.subtle.importKey('raw', encoder.encode(pepper), hmac, false, ['sign'])
  imported.set(pepper, key)
  return key
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 30
const checkLength = 6
const rest = new RegExp(`^[0-9A-Za-z]{${bodyLength + checkLength}}$`)

/** Makes a new token from random bytes. */
export function randomToken(prefix: string, randomBytes: (length: number) => Uint8Array): string {
  let body = ''
  while (body.length < bodyLength) {
    for (const byte of randomBytes(bodyLength)) {
      // 248 is the largest multiple of 62 below 256; bytes from it on would favour some letters.
      if (byte < 248 && body.length < bodyLength) body += alphabet[byte % 62] ?? ''
    }
  }
  return withChecksum(prefix + body)
}

/** Derives one token from 256 secret bits in hex; the token does not reveal them. */
export function derivedToken(prefix: string, secretHex: string): string {
  let left = BigInt(`0x${secretHex}`)
  let body = ''
  // 62^30 is far below 2^256, so no letter is more likely by over one part in 2^77.
  for (let place = 0; place < bodyLength; place += 1) {
    body += alphabet[Number(left % 62n)] ?? ''
    left /= 62n
  }
  return withChecksum(prefix + body)
}

/** True if the text has this prefix, the token form and the right checksum. */
export function isToken(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix) || !rest.test(text.slice(prefix.length))) return false
  const split = text.length - checkLength
  return checksum(text.slice(0, split)) === text.slice(split)
}

function withChecksum(unchecked: string): string {
  return unchecked + checksum(unchecked)
}

function checksum(text: string): string {
  let value = crc32(text)
  let digits = ''
  for (let place = 0; place < checkLength; place += 1) {
    digits = (alphabet[value % 62] ?? '') + digits
    value = Math.floor(value / 62)
  }
  return digits
}

/** Computes CRC-32 as in ISO 3309, bit by bit: tokens are short, and no table is needed. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
