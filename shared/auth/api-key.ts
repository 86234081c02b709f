/**
 * API keys: `aoa_live_` or `aoa_test_`, 30 base62 characters (178 bits) and 6 base62 characters of
 * CRC-32, so that a mistyped or made-up key is refused without a look into the database. What the
 * database knows is only the HMAC-SHA-256 of the key under a pepper.
 */
import { toHex } from '../digest.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const bodyLength = 30
const checkLength = 6
const form = new RegExp(`^aoa_(live|test)_[0-9A-Za-z]{${bodyLength + checkLength}}$`)

/** Makes a key from random bytes; `kind` is live or test. */
export function createApiKey(
  kind: 'live' | 'test',
  randomBytes: (length: number) => Uint8Array,
): string {
  let body = ''
  while (body.length < bodyLength) {
    for (const byte of randomBytes(bodyLength)) {
      // 248 is the largest multiple of 62 below 256: bytes above it would favour some letters.
      if (byte < 248 && body.length < bodyLength) body += alphabet[byte % 62] ?? ''
    }
  }
  const key = `aoa_${kind}_${body}`
  return key + checksum(key)
}

/** Whether a token can be an API key at all. */
export function isApiKey(token: string): boolean {
  if (!form.test(token)) return false
  const split = token.length - checkLength
  return checksum(token.slice(0, split)) === token.slice(split)
}

/** What may be shown of a key after its creation. */
export function shownPart(key: string): string {
  return `${key.slice(0, 9)}…${key.slice(-4)}`
}

/** The credential that stands for a key in the database: HMAC-SHA-256 in lower-case hex. */
export async function credentialOf(key: string, pepper: string): Promise<string> {
  const secret = await hmacKey(pepper)
  return toHex(await crypto.subtle.sign('HMAC', secret, encoder.encode(key)))
}

const encoder = new TextEncoder()
const hmac = { name: 'HMAC', hash: 'SHA-256' }
type HmacKey = ReturnType<typeof crypto.subtle.importKey>
/** An isolate has one pepper; importing it again for each request costs more than the HMAC. */
const imported = new Map<string, HmacKey>()

function hmacKey(pepper: string): HmacKey {
  const known = imported.get(pepper)
  if (known) return known
  const key = crypto.subtle.importKey('raw', encoder.encode(pepper), hmac, false, ['sign'])
  imported.set(pepper, key)
  return key
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < checkLength; place += 1) {
    digits = (alphabet[rest % 62] ?? '') + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** CRC-32 as in ISO 3309, bitwise: keys are short and this keeps no table. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
