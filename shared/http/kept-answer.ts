/**
 * Kept answers for repeats of a request, sealed: an answer may hold the session of a site or the text of a
 * mail, which the database must not show. Each opens only for the claim it was sealed for. Whoever holds
 * API_KEY_PEPPER can open them all.
 */
import { decodeBytes, encodeBase64 } from '../base64.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'

const cipher = 'AES-GCM'
const nonceBytes = 12
const encoder = new TextEncoder()

/** Seals the answer of a claim; returns nonce and ciphertext in base64. */
export async function sealAnswer(
  { config, randomBytes }: Pick<World, 'config' | 'randomBytes'>,
  claim: string,
  answer: string,
): Promise<string> {
  const nonce = new Uint8Array(randomBytes(nonceBytes))
  const key = await keyOf(required(config, 'API_KEY_PEPPER'))
  const sealed = await crypto.subtle.encrypt(boundTo(nonce, claim), key, encoder.encode(answer))
  return encodeBase64(new Uint8Array([...nonce, ...new Uint8Array(sealed)]))
}

/** Opens the answer of a claim; throws if it was sealed for another claim or under another pepper. */
export async function openAnswer(
  { config }: Pick<World, 'config'>,
  claim: string,
  kept: string,
): Promise<string> {
  const bytes = decodeBytes(kept) ?? new Uint8Array()
  const key = await keyOf(required(config, 'API_KEY_PEPPER'))
  const bound = boundTo(bytes.subarray(0, nonceBytes), claim)
  const answer = await crypto.subtle.decrypt(bound, key, bytes.subarray(nonceBytes))
  return new TextDecoder().decode(answer)
}

function boundTo(iv: Uint8Array<ArrayBuffer>, claim: string) {
  return { name: cipher, iv, additionalData: encoder.encode(claim) }
}

/** Derives the key by HKDF (RFC 5869), because the pepper itself makes credentials. */
async function keyOf(pepper: string) {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(pepper), 'HKDF', false, [
    'deriveKey',
  ])
  const info = encoder.encode('kept answers')
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: encoder.encode('aoa/v1'), info }
  const form = { name: cipher, length: 256 }
  return crypto.subtle.deriveKey(derivation, secret, form, false, ['encrypt', 'decrypt'])
}
