/**
 * Standard base64 (RFC 4648 section 4) for what the product itself writes. Its reader is strict: each byte
 * string has exactly one accepted text, so a changed character never goes unnoticed. For input from
 * strangers there is a tolerant reader that never throws: it accepts both alphabets, missing padding and
 * any value of the unused bits, all of which `@scure/base` refuses.
 */
import { base32nopad, base64, base64urlnopad } from '@scure/base'

/** Encodes bytes as padded base64. */
export function encodeBase64(bytes: Uint8Array): string {
  return base64.encode(bytes)
}

/**
 * Decodes base64 strictly, to exactly `length` bytes if given. Throws, without repeating the text, if it is
 * not their only encoding.
 */
export function decodeBase64(text: string, length?: number): Uint8Array {
  const bytes = attempt(() => base64.decode(text))
  if (bytes && bytes.length === (length ?? bytes.length)) return bytes
  throw new Error(length === undefined ? 'expected base64' : `expected ${length} bytes in base64`)
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
  return base64urlnopad.encode(bytes)
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
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
}

/** Parses JSON from outside; returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  return attempt((): unknown => JSON.parse(text))
}

/**
 * Decodes base32 digits in capitals, without padding (RFC 4648 section 6). Bits that fill no byte are
 * dropped, as every authenticator does.
 */
export function decodeBase32(digits: string): Uint8Array {
  const groups = digits.padEnd(Math.ceil(digits.length / 8) * 8, 'A')
  return base32nopad.decode(groups).subarray(0, Math.floor((digits.length * 5) / 8))
}

// Errors are dropped because their messages repeat a part of the text.
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
