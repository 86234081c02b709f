/** Asymmetric matchers typed as unknown, so that expected values never count as trusted data. */
import { expect } from 'vitest'

export const anyText: unknown = expect.any(String)

export const anyNumber: unknown = expect.any(Number)

/** Matches any text with this part in it. */
export function textWith(part: string): unknown {
  return expect.stringContaining(part)
}

/** Matches any text in which the pattern is found. */
export function textLike(pattern: RegExp): unknown {
  return expect.stringMatching(pattern)
}

/** Matches any list of a stranger's fields that contains these. */
export function namedWith(fields: Readonly<Record<string, string>>): unknown {
  return expect.arrayContaining(Object.entries(fields).map(([name, value]) => ({ name, value })))
}
