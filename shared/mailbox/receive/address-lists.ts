/**
 * Shortens the lists of addresses in the head of a mail before they are parsed. Parsing takes longest
 * for them, and for groups within groups each level is read again. What is cut becomes spaces, so no
 * other field moves. The author is never cut, because another one could appear.
 */

/** Bytes of all lists together: some hundred recipients, of which a mail shows fewer. */
const listBytesMax = 16 * 1024
/** Bytes of one From field. */
const authorBytesMax = 2 * 1024
const lists = ['to', 'cc', 'bcc', 'reply-to', 'sender', 'delivered-to', 'return-path']
/** A field with the lines that continue it (RFC 5322 section 2.2.3). */
const fieldPattern = /[^\n]+(?:\n[ \t][^\n]*)*/g
const space = 0x20

/** Returns a mail with short lists, or undefined if the field of its author is too long. */
export function withShortLists(
  raw: Uint8Array,
  head: string,
): { raw: Uint8Array; isCut: boolean } | undefined {
  const short = raw.slice()
  let left = listBytesMax
  let isCut = false
  for (const { 0: field, index } of head.matchAll(fieldPattern)) {
    const colon = field.indexOf(':')
    const name = field.slice(0, Math.max(0, colon)).trim().toLowerCase()
    if (name === 'from' && field.length > authorBytesMax) return undefined
    if (!lists.includes(name)) continue
    const isLong = field.length > left
    if (isLong) short.fill(space, index + endOfList(field, colon, left), index + field.length)
    isCut ||= isLong
    left = isLong ? 0 : left - field.length
  }
  return { raw: short, isCut }
}

/** Returns where the last whole address within a length ends. */
function endOfList(field: string, colon: number, lengthMax: number): number {
  return Math.max(colon + 1, field.lastIndexOf(',', lengthMax))
}
