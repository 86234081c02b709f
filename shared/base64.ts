/**
 * Standard base64 (RFC 4648 section 4) for what the product itself writes. Its reader is strict: each byte
 * string has exactly one accepted text, so a changed character never goes unnoticed. For input from
 * strangers there is a tolerant reader that never throws: it accepts both alphabets and missing padding.
 */

/** Bytes that are passed as arguments of one call; call stacks hold far more. */
const chunkBytes = 8_192

/** Encodes bytes as padded base64. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes))
  }
  return btoa(binary)
}

/**
 * Decodes base64 strictly, to exactly `length` bytes if given. Throws, without repeating the text, if it is
 * not their only encoding.
 */
export function decodeBase64(text: string, length?: number): Uint8Array {
  const bytes = decodeBytes(text)
  // RFC 4648 section 3.5: the unused bits of the last character could carry anything.
  if (!bytes || bytes.length !== (length ?? bytes.length) || encodeBase64(bytes) !== text) {
    throw new Error(length === undefined ? 'expected base64' : `expected ${length} bytes in base64`)
  }
  return bytes
}

/** Encodes a text's UTF-8 as standard base64. */
export function encodeText(text: string): string {
  return encodeBase64(new TextEncoder().encode(text))
}

/** Encodes a text's UTF-8 as URL-safe base64 without padding (RFC 4648 section 5). */
export function encodeTextForUrl(text: string): string {
  return encodeForUrl(new TextEncoder().encode(text))
}

/** Encodes bytes as URL-safe base64 without padding. */
export function encodeForUrl(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes standard or URL-safe base64, padded or not; returns undefined if it is neither. */
export function decodeBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  const standard = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '')
  if (!/^[A-Za-z0-9+/]*$/.test(standard) || standard.length % 4 === 1) return undefined
  const binary = atob(standard)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** Decodes base64 to text; returns undefined if it is not base64 or not UTF-8. */
export function decodeText(text: string): string | undefined {
  const bytes = decodeBytes(text)
  if (bytes === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Parses JSON from outside; returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
