/**
 * API keys: `aoa_live_` or `aoa_test_`, then the common token form. Of a key, as of every token, the
 * database stores only the HMAC-SHA-256 under a pepper.
 */
import { toHex } from '../digest.ts'
import { isToken, randomToken } from './token-form.ts'

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
