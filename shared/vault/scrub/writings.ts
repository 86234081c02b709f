/** Returns the ways to write a secret before it is encoded: trimmed, quotes doubled, either line ending. */
export function writingsOf(secret: string): string[] {
  const isOfLines = /\n/.test(secret)
  const trimmed = secret.trim()
  const unix = isOfLines ? [trimmed.replaceAll('\r\n', '\n')] : []
  const doubled = [secret.replaceAll("'", "''"), secret.replaceAll('"', '""')]
  const all = [
    secret,
    trimmed,
    ...doubled,
    ...unix,
    ...unix.map((text) => text.replaceAll('\n', '\r\n')),
  ]
  // The rest of a secret that is mostly spaces occurs everywhere.
  return [...new Set(all)].filter((text) => text === secret || text.length >= 6)
}
