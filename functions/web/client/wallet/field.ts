/** Reads a nested field of a value from an untrusted source: an extension, a relay, a wallet. */
export function field(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined,
    value,
  )
}

/** Returns the values of an array or object; empty for anything else. */
export function values(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}

/** Parses JSON; undefined if the text is not valid. */
export function parseField(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
