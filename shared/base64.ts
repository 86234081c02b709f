/**
 * Standard base64 (RFC 4648 section 4) of what the product itself writes. Reading is strict: exactly
 * one text is accepted for given bytes, so a changed character can never go unnoticed. What strangers
 * send is read tolerantly and never throws: both alphabets and missing padding are in use.
 */

/** Bytes that are spread into one call; a call stack holds far more of them. */
const chunkBytes = 8_192

/** Bytes as padded base64. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes))
  }
  return btoa(binary)
}

/**
 * Reads bytes, `length` of them where that is said; throws, without repeating the text, when it is
 * not their one encoding.
 */
export function decodeBase64(text: string, length?: number): Uint8Array {
  const bytes = decodeBytes(text)
  // RFC 4648 section 3.5: the unused bits of a last character could carry anything.
  if (!bytes || bytes.length !== (length ?? bytes.length) || encodeBase64(bytes) !== text) {
    throw new Error(length === undefined ? 'expected base64' : `expected ${length} bytes in base64`)
  }
  return bytes
}

/** Standard base64 of a text's UTF-8. */
export function encodeText(text: string): string {
  return encodeBase64(new TextEncoder().encode(text))
}

/** URL-safe base64 without padding (RFC 4648 section 5) of a text's UTF-8. */
export function encodeTextForUrl(text: string): string {
  return encodeForUrl(new TextEncoder().encode(text))
}

/** URL-safe base64 without padding of bytes. */
export function encodeForUrl(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Bytes of standard or URL-safe base64, padded or not; undefined when it is neither. */
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

/** Text of base64; undefined when it is no base64 or no UTF-8. */
export function decodeText(text: string): string | undefined {
  const bytes = decodeBytes(text)
  if (bytes === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A JSON value that came from outside; undefined when the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
