/**
 * SHA-256 of texts (FIPS 180-4) and hex. It names and compares things; what has to be kept secret is
 * keyed elsewhere.
 */

/** SHA-256 over a text's UTF-8, in lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

/** Lower-case hex of bytes. */
export function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
