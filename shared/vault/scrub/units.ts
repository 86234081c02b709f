/**
 * Reads a text once, each character in the likeliest way that it is written: of several readings of a
 * place the longest counts, so escapes within escapes are opened. Takes time in proportion to the text.
 */
import { isLetterOrDigit } from './bytes.ts'
import { latinByte } from './latin.ts'
import { readText } from './readings.ts'

const nameMax = 31

/** Characters in order, by their codes, and where each of them begins and ends in the bytes. */
export type Units = { count: number; codes: Uint32Array; starts: Uint32Array; ends: Uint32Array }

/** How `unitsOf` is called by who is given it. */
export type ReadUnits = typeof unitsOf

/** Reads bytes of UTF-8; of a mail, in which `=41` is a letter. */
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

/** One character, as it is most likely meant, and the place behind it. */
export type Reading = { code: number; end: number }

/** Makes what reads single characters of the same bytes. */
export type MakeReader = (bytes: Uint8Array) => (at: number) => Reading

/** Reads single characters of the same bytes. */
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

/** Behind the name of a character that is no letter, such as `&check;`. */
function behindName(bytes: Uint8Array, from: number): number {
  let end = from
  while (end < from + nameMax && isLetterOrDigit(bytes[end] ?? 0)) end += 1
  return end > from + 1 && bytes[end] === 0x3b ? end + 1 : from
}

/** The bytes of UTF-8, taken for characters of Latin-1, are one character again. */
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
