/** Decoding of an answer as text; an answer that is not text cannot be searched for secrets. */

type Answer = { body: Uint8Array; headers: Headers; truncated: boolean }

/**
 * Returns the body as text, undefined if it is not. `bytes` is the body with one character for each byte if
 * it is not UTF-8: a secret may be readable there and not in the text that the named encoding makes of it.
 */
export function readAnswerText({
  body,
  headers,
  truncated,
}: Answer): { text: string; bytes: string } | undefined {
  const label = markOf(body) ?? charsetOf(headers) ?? 'utf-8'
  try {
    const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true })
    const text = decoder.decode(body, { stream: truncated })
    const isUtf8 = decoder.encoding === 'utf-8'
    // UTF-16 without a name is UTF-8 with a null between two letters.
    if (isUtf8 && text.includes('\0')) return undefined
    return { text, bytes: isUtf8 ? '' : new TextDecoder('latin1').decode(body) }
  } catch {
    return undefined
  }
}

/** A byte order mark outranks the header (https://encoding.spec.whatwg.org/#decode). */
function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined
}

function charsetOf(headers: Headers): string | undefined {
  const type = headers.get('content-type') ?? ''
  return /;\s*charset\s*=\s*"?([A-Za-z0-9_:.-]{1,40})/i.exec(type)?.[1]
}
