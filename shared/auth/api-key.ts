/**
 * API keys: `aoa_live_` or `aoa_test_` and the form of every token. What the database knows of a key,
 * as of every token, is only its HMAC-SHA-256 under a pepper.
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

/** Whether a token can be an API key at all. */
export function isApiKey(token: string): boolean {
  return isToken('aoa_live_', token) || isToken('aoa_test_', token)
}

/** What may be shown of a key after its creation. */
export function shownPart(key: string): string {
  return `${key.slice(0, 9)}…${key.slice(-4)}`
}

/** The credential that stands for a key or token in the database: HMAC-SHA-256 in lower-case hex. */
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
