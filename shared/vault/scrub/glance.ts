/**
 * Prefilter for bytes: skips nearly all of an answer at about a nanosecond per byte, by tables of how
 * sequences begin. The search looks closer at the places where it stops, and never finds what it skips.
 */
import { isLetterOrDigit, isLoneEquals, isPunctuation } from './bytes.ts'
import type { Sequence } from './sequences.ts'

/** Ways to write a sequence; the index of each is its bit in the table of pairs. */
export const writings = ['text', 'hex', 'decimal'] as const
/** Bits of a pair: `real` is the bit of text, `gapOnly` marks a possible gap as the second byte. */
export const [real, gapOnly, compressedStart] = [1, 8, 16]

/**
 * Tables of the prefilter: what may begin with a pair of bytes, as bits; which three letters or digits may
 * begin a text, by `tripleAt`; and which sequences begin with a character.
 */
export type Prefilter = {
  pairs: Uint8Array
  triples: Uint8Array
  byCode: Record<Sequence['writing'], Map<number, Sequence[]>>
}

/** Returns the next place that needs a closer look, or -1. */
export function nextCandidate(
  bytes: Uint8Array,
  from: number,
  { pairs, triples }: Prefilter,
): number {
  const last = bytes.length - 1
  for (let at = nextMarked(bytes, from, pairs); at < last; at = nextMarked(bytes, at + 1, pairs)) {
    const bits = pairs[pairAt(bytes, at)]
    // One letter in five stands before a space, so what follows the gap has to fit too.
    const fits =
      bits === gapOnly
        ? fitsBehindGap(bytes, at + 1, pairs, (bytes[at] ?? 0) << 8)
        : bits !== real || fitsInLetters(bytes, at, triples)
    if (fits) return at
  }
  // The last byte has no byte behind it: only a secret of one character can begin there.
  return from <= last && (pairs[pairAt(bytes, last)] ?? 0) !== 0 ? last : -1
}

/** Returns the next pair in the table, or the last byte. It is small because it runs for every byte. */
function nextMarked(bytes: Uint8Array, from: number, pairs: Uint8Array): number {
  const last = bytes.length - 1
  let first = bytes[from] ?? 0
  for (let at = from; at < last; at += 1) {
    const second = bytes[at + 1] ?? 0
    if (pairs[(first << 8) | second] !== 0) return at
    first = second
  }
  return last
}

const isLetter = Uint8Array.from({ length: 256 }, (_, byte) => (isLetterOrDigit(byte) ? 1 : 0))

/** True if three letters or digits begin a sequence; anything else needs a closer look. */
function fitsInLetters(bytes: Uint8Array, at: number, triples: Uint8Array): boolean {
  const first = bytes[at] ?? 0
  const second = bytes[at + 1] ?? 0
  const third = bytes[at + 2] ?? 0
  if (isLetter[first] === 0 || isLetter[second] === 0 || isLetter[third] === 0) return true
  // `U+0041`: a letter that may begin another one.
  if ((third | 0x20) === 0x75) return true
  return triples[tripleAt(first, second, third)] === 1
}

/** Returns the index of a triple in a table of 65,536 entries; several triples may share one. */
export function tripleAt(first: number, second: number, third: number): number {
  return (first * 1_031 + second * 37 + third) & 0xffff
}

/** Returns the index of a pair in the table of pairs. */
export function pairAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}

/** Table of the punctuation that begins neither an escape nor a tag. */
const isGap = isPunctuation.map((is, byte) =>
  '%\\&=<'.includes(String.fromCharCode(byte)) ? 0 : is,
)

/** True if the bytes behind plain punctuation fit, or may fit, the next character of a sequence. */
function fitsBehindGap(bytes: Uint8Array, from: number, table: Uint8Array, row: number): boolean {
  for (let at = from; at < from + 9; at += 1) {
    const byte = bytes[at] ?? 0x41
    const known = table[row | byte] ?? 0
    if ((known & ~gapOnly) !== 0) return true
    if (isGap[byte] === 1 || isLoneEquals(bytes, at)) continue
    // An escape, a tag or an invisible character needs a closer look.
    return known === gapOnly
  }
  return false
}
