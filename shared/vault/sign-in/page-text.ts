/**
 * Decodes the text of a page as a browser does (HTML standard, section 13.2.3): bytes that a member wrote
 * in one encoding can form an HTML form in another.
 */

const prescanBytes = 1_024

/** Returns the text by byte order mark, header or meta element; empty if the encoding is unknown. */
export function pageText(body: Uint8Array, headers: Headers): string {
  const type = headers.get('content-type') ?? ''
  const charset = /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(type)?.[1]
  try {
    return new TextDecoder(markOf(body) ?? charset ?? namedInHead(body) ?? 'utf-8').decode(body)
  } catch {
    return ''
  }
}

/** Encoding standard, section 6: the byte order mark outranks every label. */
function markOf(body: Uint8Array): string | undefined {
  const [first, second, third] = body
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xef && second === 0xbb && third === 0xbf ? 'utf-8' : undefined
}

/** Returns the encoding in the head of the page. As that is readable in bytes, it is not UTF-16. */
function namedInHead(body: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(body.subarray(0, prescanBytes))
  const tags = head.split(/<meta(?=[\s/])/i).slice(1)
  const named = tags
    .map((tag) =>
      /charset\s{0,4}=\s{0,4}["']?\s{0,4}([\w.:-]{1,40})/i.exec(tag.split('>', 1)[0] ?? ''),
    )
    .find((found) => found !== null)?.[1]
  return named === undefined || /^utf-?16/i.test(named) ? undefined : named
}
