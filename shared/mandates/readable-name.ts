/** Decodes the A-labels of a host name for display (RFC 3492). It decides nothing. */
import { toUnicode } from 'punycode/punycode.es6.js'

/** Returns the name as people read it; undefined if one of its A-labels is invalid. */
export function readableName(name: string): string | undefined {
  try {
    return toUnicode(name)
  } catch {
    return undefined
  }
}
