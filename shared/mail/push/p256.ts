/** Keys of the curve P-256 in the forms that Web Push takes them: 32 bytes, and an uncompressed point of 65. */
import { decodeBytes } from '../../base64.ts'

/** PKCS#8 (RFC 5958) of a key up to its 32 bytes, without the public key, which the platform computes. */
const pkcs8Head = 'MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCA'

/** A private key, and its public key as an uncompressed point (SEC 1 section 2.3.3). */
export type PrivateKey = {
  key: Awaited<ReturnType<typeof crypto.subtle.importKey>>
  publicKey: Uint8Array<ArrayBuffer>
}

/** Imports a private key to agree on a secret (ECDH) or to sign (ECDSA). Throws for bytes that are no key. */
export async function importPrivateKey(
  name: 'ECDH' | 'ECDSA',
  bytes: Uint8Array,
): Promise<PrivateKey> {
  const use = name === 'ECDH' ? 'deriveBits' : 'sign'
  const pkcs8 = joinBytes(decodeBytes(pkcs8Head), bytes)
  const curve = { name, namedCurve: 'P-256' }
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, curve, true, [use])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', key)
  const publicKey = joinBytes(Uint8Array.of(4), decodeBytes(x), decodeBytes(y))
  return { key, publicKey }
}

/** Imports the public key of a browser. Throws if it is no point of the curve. */
export function importPublicKey(point: Uint8Array<ArrayBuffer>) {
  return crypto.subtle.importKey('raw', point, { name: 'ECDH', namedCurve: 'P-256' }, false, [])
}

/** Joins byte strings. */
export function joinBytes(...parts: (Uint8Array | undefined)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...(part ?? [])]))
}
