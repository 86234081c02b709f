/** How a host name reads once its A-labels are decoded (RFC 3492). It decides nothing. */
import { toUnicode } from 'punycode/punycode.es6.js'

/** The name as people read it; undefined where one of its A-labels is none. */
export function readableName(name: string): string | undefined {
  try {
    return toUnicode(name)
  } catch {
    return undefined
  }
}
