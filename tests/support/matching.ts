/** Stand-ins for what an expected value leaves open, typed so that nothing of them is trusted. */
import { expect } from 'vitest'

export const anyText: unknown = expect.any(String)

export const anyNumber: unknown = expect.any(Number)

/** Any text with this part in it. */
export function textWith(part: string): unknown {
  return expect.stringContaining(part)
}

/** Any text that the pattern is found in. */
export function textLike(pattern: RegExp): unknown {
  return expect.stringMatching(pattern)
}

/** Any list of a stranger's fields with these among them. */
export function namedWith(fields: Readonly<Record<string, string>>): unknown {
  return expect.arrayContaining(Object.entries(fields).map(([name, value]) => ({ name, value })))
}
