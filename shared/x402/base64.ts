/** Base64 of UTF-8 text as the 402 headers carry it (x402 v2 transport, HTTP). */

/** Standard base64 with padding (RFC 4648 section 4). */
export function encodeText(text: string): string {
  return encodeBytes(new TextEncoder().encode(text))
}

/** Bytes to standard base64, in steps that a call stack can carry. */
export function encodeBytes(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  }
  return btoa(binary)
}

/** Bytes of standard or URL-safe base64, padded or not; undefined when it is neither. */
export function decodeBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  if (!/^[A-Za-z0-9+/]*$/.test(standard) || standard.length % 4 === 1) return undefined
  return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0))
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
