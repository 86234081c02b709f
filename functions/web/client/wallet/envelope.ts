// Envelopes that two WalletConnect peers exchange through a relay that cannot read them, of type 0
// (WalletConnect 2.0 specifications, "Crypto Typed Envelopes").
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { decodeBytes, encodeBase64 } from '../../../../shared/base64.ts'
import { type Bytes, randomKeyBytes } from './keys.ts'

const ivBytes = 12

/** Encrypts a message: type byte 0, initialization vector, ciphertext with its tag. */
export function seal(key: Bytes, message: object): string {
  const iv = randomKeyBytes(ivBytes)
  const text = new TextEncoder().encode(JSON.stringify(message))
  return encodeBase64(Uint8Array.of(0, ...iv, ...chacha20poly1305(key, iv).encrypt(text)))
}

/** Decrypts an envelope; undefined if it has another key or form. */
export function openEnvelope(key: Bytes, envelope: string): unknown {
  const bytes = decodeBytes(envelope)
  if (bytes?.[0] !== 0) return undefined
  try {
    const iv = bytes.subarray(1, 1 + ivBytes)
    const text = chacha20poly1305(key, iv).decrypt(bytes.subarray(1 + ivBytes))
    return JSON.parse(new TextDecoder().decode(text))
  } catch {
    return undefined
  }
}
