/** A field of something that a stranger made: an extension, a relay, a wallet. */
export function field(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined,
    value,
  )
}

/** What a list or an object holds; nothing for what is neither. */
export function values(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}

/** Text that is JSON as what it says; undefined for what is none. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
