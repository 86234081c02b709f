/**
 * A first look at bytes: passes over nearly all of an answer at about a nanosecond a byte, by tables
 * of how sequences begin. What it stops at is looked at closer; what it passes over is never found.
 */
import { isLetterOrDigit, isLoneEquals, isPunctuation } from './bytes.ts'
import type { Sequence } from './sequences.ts'

/** How sequences can be written; the place of each is its bit in the table of pairs. */
export const writings = ['text', 'hex', 'decimal'] as const
/** Bits beside those of the writings: text that begins for certain, or goes on behind a gap. */
export const [real, gapOnly, compressedStart] = [1, 8, 16]

/**
 * What may begin with a pair of bytes, as bits; which three letters or digits do, by `tripleAt`; and
 * which sequences begin with a character.
 */
export type Glance = {
  pairs: Uint8Array
  triples: Uint8Array
  byCode: Record<Sequence['writing'], Map<number, Sequence[]>>
}

/** The next place that has to be looked at, or -1. */
export function nextPlace(bytes: Uint8Array, from: number, { pairs, triples }: Glance): number {
  const last = bytes.length - 1
  for (let at = nextMarked(bytes, from, pairs); at < last; at = nextMarked(bytes, at + 1, pairs)) {
    const bits = pairs[pairAt(bytes, at)]
    // A letter before a space, as every fifth of a text is: what is behind it has to fit too.
    const fits =
      bits === gapOnly
        ? fitsBehindGap(bytes, at + 1, pairs, (bytes[at] ?? 0) << 8)
        : bits !== real || fitsInLetters(bytes, at, triples)
    if (fits) return at
  }
  // The last byte stands alone: only a secret of one character ends with its beginning.
  return from <= last && (pairs[pairAt(bytes, last)] ?? 0) !== 0 ? last : -1
}

/** The next pair that the table knows, or the last byte. Small on purpose: it sees every byte. */
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

/** Whether three letters or digits are known as such; what holds anything else has to be looked at. */
function fitsInLetters(bytes: Uint8Array, at: number, triples: Uint8Array): boolean {
  const first = bytes[at] ?? 0
  const second = bytes[at + 1] ?? 0
  const third = bytes[at + 2] ?? 0
  if (isLetter[first] === 0 || isLetter[second] === 0 || isLetter[third] === 0) return true
  // `U+0041`: a letter that may begin another one.
  if ((third | 0x20) === 0x75) return true
  return triples[tripleAt(first, second, third)] === 1
}

/** A place in a table of 65,536 triples; others may share it. */
export function tripleAt(first: number, second: number, third: number): number {
  return (first * 1_031 + second * 37 + third) & 0xffff
}

/** A place in the table of pairs. */
export function pairAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}

/** Punctuation that begins neither an escape nor a tag. */
const isGap = isPunctuation.map((is, byte) =>
  '%\\&=<'.includes(String.fromCharCode(byte)) ? 0 : is,
)

/** Whether behind plain punctuation stands what the table knows as real, or may do so. */
function fitsBehindGap(bytes: Uint8Array, from: number, table: Uint8Array, row: number): boolean {
  for (let at = from; at < from + 9; at += 1) {
    const byte = bytes[at] ?? 0x41
    const known = table[row | byte] ?? 0
    if ((known & ~gapOnly) !== 0) return true
    if (isGap[byte] === 1 || isLoneEquals(bytes, at)) continue
    // An escape, a tag and what nobody sees have to be looked at closer.
    return known === gapOnly
  }
  return false
}
