/** Bodies with secrets in them: a form's fields and a JSON object's members. Nothing is overwritten. */

type Body = { type: string; text: string } | { refused: string }
type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** application/x-www-form-urlencoded, the fields in their order and the secrets after them. */
export function placedInForm(
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

/** application/json; objects on the way to a member are made where they are missing. */
export function placedInJson(
  members: Readonly<Record<string, Json>>,
  secrets: readonly { pointer: string; value: string }[],
): Body {
  let root: Json = { ...members }
  for (const { pointer, value } of secrets) {
    // RFC 6901 section 4: ~1 first, or ~01 would become a slash.
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

/** A copy with the value in it. Entries instead of assignment: `__proto__` is a name like others. */
function placedAt(at: Json | undefined, names: readonly string[], value: string): Json | undefined {
  const [name, ...rest] = names
  if (name === undefined) return at === undefined ? value : undefined
  if (at !== undefined && (at === null || typeof at !== 'object' || Array.isArray(at))) {
    return undefined
  }
  const entries = Object.entries(at ?? {})
  const below = placedAt(entries.find(([other]) => other === name)?.[1], rest, value)
  if (below === undefined) return undefined
  const others = entries.filter(([other]) => other !== name)
  return Object.fromEntries([...others, [name, below]])
}
