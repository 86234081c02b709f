/**
 * Base64 (RFC 4648 section 4) of byte strings whose length is known beforehand. Exactly one text is
 * accepted for given bytes, so a changed character can never go unnoticed.
 */

/** Bytes as padded base64. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/** Reads `length` bytes; throws, without repeating the text, when it is not their one encoding. */
export function decodeBase64(text: string, length: number): Uint8Array {
  const bytes = isBase64Of(text, length)
    ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    : undefined
  // RFC 4648 section 3.5: the unused bits of a last character could carry anything.
  if (!bytes || encodeBase64(bytes) !== text) {
    throw new Error(`expected ${length} bytes in base64`)
  }
  return bytes
}

function isBase64Of(text: string, length: number): boolean {
  const digits = Math.ceil((length * 4) / 3)
  const padding = (4 - (digits % 4)) % 4
  return new RegExp(`^[A-Za-z0-9+/]{${digits}}={${padding}}$`).test(text)
}
