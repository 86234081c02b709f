/** How a secret is written before it is encoded: fields are trimmed, and lines end in two ways. */
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
  // What is left of one that is mostly spaces stands everywhere.
  return [...new Set(all)].filter((text) => text === secret || text.length >= 6)
}
