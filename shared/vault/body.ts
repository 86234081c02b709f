/** Request bodies with secrets in them, as a form or as JSON. A secret overwrites nothing. */

type Body = { type: string; text: string } | { refused: string }

/** Builds an application/x-www-form-urlencoded body: the fields in their order, then the secrets. */
export function buildFormBody(
  fields: Readonly<Record<string, string>>,
  secrets: readonly { name: string; value: string }[],
): Body {
  const pairs = [
    ...Object.entries(fields),
    ...secrets.map(({ name, value }): [string, string] => [name, value]),
  ]
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) {
    return { refused: 'The template gives a form field twice.' }
  }
  const text = new URLSearchParams(pairs).toString()
  return { type: 'application/x-www-form-urlencoded', text }
}

/** Builds an application/json body. Missing objects on the way to a member are created. */
export function buildJsonBody(
  members: Readonly<Record<string, unknown>>,
  secrets: readonly { pointer: string; value: string }[],
): Body {
  let root: unknown = { ...members }
  for (const { pointer, value } of secrets) {
    // RFC 6901 section 4: ~1 is decoded first, or ~01 would become a slash.
    const names = pointer
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    const placed = placedAt(root, names, value)
    if (placed === undefined) {
      return { refused: 'A JSON pointer leads through a list or to something that is there.' }
    }
    root = placed
  }
  return { type: 'application/json', text: JSON.stringify(root) }
}

/** Returns a copy with the value in it. Built from entries, so `__proto__` is a name like any other. */
function placedAt(at: unknown, names: readonly string[], value: string): unknown {
  const [name, ...rest] = names
  if (name === undefined) return at === undefined ? value : undefined
  if (at !== undefined && (at === null || typeof at !== 'object' || Array.isArray(at))) {
    return undefined
  }
  const entries: [string, unknown][] = Object.entries(at ?? {})
  const below = placedAt(entries.find(([other]) => other === name)?.[1], rest, value)
  if (below === undefined) return undefined
  const others = entries.filter(([other]) => other !== name)
  return Object.fromEntries([...others, [name, below]])
}
