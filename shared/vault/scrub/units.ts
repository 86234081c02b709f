/**
 * Reads a text once, in time proportional to it, with each character in its likeliest reading. The longest
 * reading of a place counts, so escapes within escapes are decoded.
 */
import { isLetterOrDigit } from './bytes.ts'
import { latinByte } from './latin.ts'
import { readText } from './readings.ts'

const nameMax = 31

/** Characters in order, by their codes, with the places where each begins and ends in the bytes. */
export type Units = { count: number; codes: Uint32Array; starts: Uint32Array; ends: Uint32Array }

/** Type of `unitsOf`, for functions that receive it as an argument. */
export type ReadUnits = typeof unitsOf

/** Reads UTF-8 bytes, and in a mail `=41` as a letter. */
export function unitsOf(bytes: Uint8Array, isMail: boolean): Units {
  const [codes, starts, ends] = [0, 1, 2].map(() => new Uint32Array(bytes.length))
  if (!codes || !starts || !ends) throw new Error('three arrays were made')
  const reader = longestReader(bytes)
  let count = 0
  for (let at = 0; at < bytes.length; count += 1) {
    const byte = bytes[at] ?? 0
    const isPlain = isAlwaysPlain[byte] === 1 || (byte === 0x3d && !isMail)
    starts[count] = at
    if (isPlain) {
      codes[count] = byte
      at += 1
    } else {
      const { code, end } = reader(at)
      codes[count] = code
      at = end
    }
    ends[count] = at
  }
  return { count, codes, starts, ends }
}

const isAlwaysPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 128 && !'%\\&=Uu'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

/** A character in its likeliest reading, and the place behind it. */
export type Reading = { code: number; end: number }

/** Function that makes a reader of single characters for the same bytes. */
export type MakeReader = (bytes: Uint8Array) => (at: number) => Reading

/** Returns a reader of single characters for the same bytes, in their longest reading. */
export function longestReader(bytes: Uint8Array): ReturnType<MakeReader> {
  let longest: Reading = { code: 0, end: 0 }
  const found = (code: number, end: number) => {
    if (end >= longest.end) longest = { code, end }
  }
  const read = (at: number): Reading => {
    longest = { code: 0, end: at + 1 }
    readText(bytes, at, found)
    if (longest.end > bytes.length) return { code: 0, end: bytes.length }
    if (longest.code === 0x26) return { code: 0x26, end: behindName(bytes, longest.end) }
    return longest
  }
  return (at) => {
    const first = read(at)
    return first.code >= 0xc2 && first.code <= 0xf4 ? repaired(first, read) : first
  }
}

/** Returns the place behind the name of a character that is not a letter, such as `&check;`. */
function behindName(bytes: Uint8Array, from: number): number {
  let end = from
  while (end < from + nameMax && isLetterOrDigit(bytes[end] ?? 0)) end += 1
  return end > from + 1 && bytes[end] === 0x3b ? end + 1 : from
}

/** Rejoins the bytes of a UTF-8 character that were taken for Latin-1 characters. */
function repaired(first: Reading, read: (at: number) => Reading): Reading {
  const more = first.code < 0xe0 ? 1 : first.code < 0xf0 ? 2 : 3
  let [code, end] = [first.code & (0x3f >> more), first.end]
  for (let left = more; left > 0; left -= 1) {
    const next = read(end)
    const byte = latinByte(next.code) ?? 0
    if (byte >> 6 !== 2) return first
    code = (code << 6) | (byte & 0x3f)
    end = next.end
  }
  return { code, end }
}
