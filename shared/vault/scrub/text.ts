/** Decoding of an answer as text; an answer that is not text is not searched. */

type Headers = readonly (readonly [string, string])[]

/** A text, its UTF-8 bytes, and a flag for bodies that came as UTF-8. */
export type AnswerText = { text: string; bytes: Uint8Array; isUtf8: boolean }

/** Returns the body as text, undefined if it is not text. A cut body may end within a character. */
export function readAnswerText({
  body,
  headers,
  truncated,
}: {
  body: Uint8Array
  headers: Headers
  truncated: boolean
}): AnswerText | undefined {
  const label = markOf(body) ?? charsetOf(headers) ?? 'utf-8'
  try {
    const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true })
    const text = decoder.decode(body, { stream: truncated })
    const isUtf8 = decoder.encoding === 'utf-8'
    return { text, bytes: isUtf8 && !truncated ? body : new TextEncoder().encode(text), isUtf8 }
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
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  return /;\s*charset\s*=\s*"?([A-Za-z0-9_:.-]{1,40})/i.exec(type)?.[1]
}
