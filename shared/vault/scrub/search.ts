/**
 * Finds sequences in bytes, at the places where the prefilter stops. It follows all readings of a place at
 * once, so an answer that is made to be ambiguous costs little more than another.
 */
import { isDigit, isDigitOfCode, isLetterOrDigit, isLoneEquals } from './bytes.ts'
import { afterGap, gapStarts, placesAfterGap, placesBeforeLine } from './gaps.ts'
import { compressedStart, gapOnly, nextCandidate, type Prefilter, pairAt, real } from './glance.ts'
import { joined, type Range } from './range.ts'
import { readDecimal, readHexPair, readText } from './readings.ts'
import type { Sequence } from './sequences.ts'

const headsMax = 32
/** Share of a close reading that deciding against one takes. */
const glance = 1 / 8
const readers = { text: readText, hex: readHexPair, decimal: readDecimal }

/** Number of places of an answer that may still be read closely, in all of its texts and in what they hold. */
export type Work = { readsLeft: number }

/** Returns the work that an answer may take: twice what sixty secrets in a page of only tokens do. */
export function workFor(bytes: Uint8Array): Work {
  return { readsLeft: 500_000 + 4 * bytes.length }
}

/**
 * Function that returns the ranges found, in order and without overlap, and the places where compressed
 * data may begin. A text that can be read in too many ways is one range as a whole, and so is each text
 * of the same answer after it.
 */
export type Search = (bytes: Uint8Array, work: Work) => { ranges: Range[]; compressed: number[] }

/** Returns the search for the prefilter's sequences, which can be used for any number of texts. */
export function searchWith(prefilter: Prefilter): Search {
  return (bytes, work) => {
    const { ranges, compressed } = rangesIn(bytes, prefilter, work)
    return { ranges: joined(ranges), compressed }
  }
}

function rangesIn(bytes: Uint8Array, prefilter: Prefilter, work: Work): ReturnType<Search> {
  const { pairs, byCode } = prefilter
  const ranges: Range[] = []
  const compressed: number[] = []
  const follow = follower(bytes, work)
  let start = 0
  const follows = (writing: Sequence['writing']) => (code: number, from: number) => {
    for (const sequence of byCode[writing].get(code) ?? []) {
      work.readsLeft -= glance
      if (!mayGoOn(bytes, from, sequence)) continue
      const end = follow.to(from, sequence)
      if (end === -1) continue
      ranges.push(withEdgeDigits(bytes, { start, end }, sequence))
    }
  }
  const [text, hex, decimal] = [follows('text'), follows('hex'), follows('decimal')]
  for (
    let at = nextCandidate(bytes, 0, prefilter);
    at !== -1;
    at = nextCandidate(bytes, at + 1, prefilter)
  ) {
    start = at
    const bits = pairs[pairAt(bytes, at)] ?? 0
    if ((bits & (real | gapOnly)) !== 0) readText(bytes, at, text)
    if ((bits & 2) !== 0) readHexPair(bytes, at, hex)
    if ((bits & 4) !== 0) readDecimal(bytes, at, decimal)
    if ((bits & compressedStart) !== 0) compressed.push(at)
    if (work.readsLeft < 0) return { ranges: [{ start: 0, end: bytes.length }], compressed: [] }
  }
  return { ranges, compressed }
}

/** Decides by the next few characters if a sequence is worth following; nearly always it is not. */
function mayGoOn(bytes: Uint8Array, from: number, { elements, writing, gap }: Sequence): boolean {
  if (writing === 'hex') return mayGoOnInHex(bytes, from, elements[1])
  if (writing === 'decimal') return isDigit(bytes[from]) === false
  let at = from
  for (let place = 1; place < 5 && place < elements.length; place += 1) {
    const codes = elements[place] ?? []
    // After a character that could itself be a gap, a sequence can continue in more than one way.
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

/** Returns the place of the next letter or digit behind a plain gap; -1 if it has to be read closely. */
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

/** Table of the bytes that begin an escape or a character outside of ASCII. */
const mayEscape = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 128 || '%\\&='.includes(String.fromCharCode(byte)) ? 1 : 0,
)

/** Tables of the bytes that begin a gap, an escape or another writing of the next character, by gap. */
const mayInterrupt = {
  any: interrupting('any'),
  apart: interrupting('apart'),
  line: interrupting('line'),
  hidden: interrupting('hidden'),
}

function interrupting(gap: Sequence['gap']): Uint8Array {
  const starts = [...gapStarts[gap], ...Array.from('%\\&=+Uu', (one) => one.charCodeAt(0))]
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    byte >= 128 || starts.includes(byte) ? 1 : 0,
  )
}

function mayGoOnInHex(bytes: Uint8Array, at: number, codes?: readonly number[]): boolean {
  const byte = bytes[at] ?? 0
  if (codes === undefined || byte === 0x30 || !isLetterOrDigit(byte)) return true
  let fits = (byte | 0x20) === 0x78 || (byte | 0x20) === 0x75
  readHexPair(bytes, at, (value) => {
    fits ||= codes.includes(value)
  })
  return fits
}

/** Follows all readings of a place at once and counts the reads. */
function follower(bytes: Uint8Array, work: Work) {
  let codes: readonly number[] = []
  let next: number[] = []
  const found = (code: number, end: number) => {
    if (codes.includes(code) && end <= bytes.length && !next.includes(end)) next.push(end)
  }
  /** Returns the end of a whole sequence whose first character ends at `from`, or -1. */
  const to = (from: number, sequence: Sequence): number => {
    const read = readers[sequence.writing]
    const last = sequence.elements.length - 1
    let heads = [from]
    for (let at = 1; at <= last && heads.length > 0; at += 1) {
      codes = sequence.elements[at] ?? []
      next = []
      // No reading is skipped: too many of them end the search.
      if (heads.length > headsMax) work.readsLeft = -1
      for (const head of heads.slice(0, headsMax)) {
        for (const place of placesAfterGap(bytes, head, sequence)) {
          work.readsLeft -= 1
          read(bytes, place, found)
          // The last character is found, so longer gaps before it need not be tried.
          if (at === last && next.length > 0) break
        }
      }
      heads = next
    }
    return Math.max(-1, ...heads)
  }
  return { to }
}

/** Adds the digits beside an encoded secret that hold some of its bits, even across a line break. */
function withEdgeDigits(bytes: Uint8Array, range: Range, sequence: Sequence): Range {
  let { start, end } = range
  for (let left = sequence.ragged; left > 0; left -= 1) {
    const before = placesBeforeLine(bytes, start).find((at) => isDigitOfCode(bytes[at - 1]))
    const after = placesAfterGap(bytes, end, sequence).find((at) => isDigitOfCode(bytes[at]))
    if (before !== undefined) start = before - 1
    if (after !== undefined) end = after + 1
  }
  return { start, end }
}
