/**
 * SHA-256 (FIPS 180-4) and hex. These hashes identify and compare things. They have no key: secrets are
 * hashed with a key elsewhere.
 */
import { hex } from '@scure/base'

/** Hashes a text's UTF-8 with SHA-256; returns lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

/** Hashes the concatenated bytes of all parts with SHA-256. */
export async function sha256(...parts: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', whole))
}

/** Encodes bytes as lower-case hex. */
export function toHex(bytes: ArrayBuffer | Uint8Array): string {
  return hex.encode(new Uint8Array(bytes))
}

/** Decodes lower-case hex; throws for anything else. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  if (text !== text.toLowerCase()) throw new Error('not bytes in lower-case hex')
  return new Uint8Array(hex.decode(text))
}
