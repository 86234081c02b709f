/** A second look at where a sequence begins: a quick no for what does not go on. */
import { isDigit, isLetterOrDigit, isLoneEquals } from './bytes.ts'
import { afterGap, gapStarts } from './gaps.ts'
import { readHexPair } from './readings.ts'
import type { Sequence } from './sequences.ts'

/** Whether it is worth following; the first few characters tell, and nearly always they say no. */
export function mayGoOn(
  bytes: Uint8Array,
  from: number,
  { elements, writing, gap }: Sequence,
): boolean {
  if (writing === 'hex') return mayGoOnInHex(bytes, from, elements[1]?.[0])
  if (writing === 'decimal') return isDigit(bytes[from]) === false
  let at = from
  for (let place = 1; place < 5 && place < elements.length; place += 1) {
    const codes = elements[place] ?? []
    // Behind a character that could be a gap itself, there is more than one way to go on.
    if (!isLetterOrDigit(codes[0] ?? 0)) {
      return mayInterrupt[gap][bytes[at] ?? 0x41] === 1 || codes.includes(bytes[at] ?? 0)
    }
    const next = placeOfLetter(bytes, at, gap)
    if (next === -1) return true
    if (!codes.includes(bytes[next] ?? 0)) return false
    at = next + 1
  }
  return true
}

/** Where the next letter or digit stands, behind a plain gap; -1 where that has to be read closely. */
function placeOfLetter(bytes: Uint8Array, from: number, gap: Sequence['gap']): number {
  for (let at = from; at < from + 9; ) {
    const byte = bytes[at] ?? 0x20
    if (isLetterOrDigit(byte)) return (byte | 0x20) === 0x75 && bytes[at + 1] === 0x2b ? -1 : at
    if (mayEscape[byte] === 1 && !isLoneEquals(bytes, at)) return -1
    const end = afterGap(bytes, at, gap, at > from)
    if (end === at) return at
    at = end
  }
  return -1
}

/** Bytes that begin an escape, or a character outside of ASCII. */
const mayEscape = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 128 || '%\\&='.includes(String.fromCharCode(byte)) ? 1 : 0,
)

/** Bytes that begin a gap or an escape, or belong to another writing of the next character. */
const mayInterrupt = {
  any: interrupting('any'),
  line: interrupting('line'),
  hidden: interrupting('hidden'),
}

function interrupting(gap: Sequence['gap']): Uint8Array {
  const starts = [...gapStarts[gap], ...Array.from('%\\&=+Uu', (one) => one.charCodeAt(0))]
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte >= 128 || starts.includes(byte) ? 1 : 0,
  )
}

function mayGoOnInHex(bytes: Uint8Array, at: number, code: number | undefined): boolean {
  const byte = bytes[at] ?? 0
  if (code === undefined || byte === 0x30 || !isLetterOrDigit(byte)) return true
  let fits = (byte | 0x20) === 0x78 || (byte | 0x20) === 0x75
  readHexPair(bytes, at, (value) => {
    fits ||= value === code
  })
  return fits
}
