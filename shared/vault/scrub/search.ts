/**
 * Finds sequences in bytes, at the places where a first look stops. Every reading of a place is
 * followed at once, so an answer that was made to be ambiguous costs little more than another.
 */
import { isDigit, isDigitOfCode, isLetterOrDigit, isLoneEquals } from './bytes.ts'
import { afterGap, gapStarts, placesAfterGap, placesBeforeLine } from './gaps.ts'
import { compressedStart, type Glance, gapOnly, nextPlace, pairAt, real } from './glance.ts'
import { joined, type Range } from './range.ts'
import { readDecimal, readHexPair, readText } from './readings.ts'
import type { Sequence } from './sequences.ts'

const headsMax = 32
/** Places that are read closely, for one text: ten times what the most tangled pages take. */
const readsMax = 2_000_000
const readers = { text: readText, hex: readHexPair, decimal: readDecimal }

/**
 * What was found, in order and without overlap, and where compressed data may begin. A text made to be
 * read in too many ways is one range as a whole.
 */
export type Search = (bytes: Uint8Array) => { ranges: Range[]; compressed: number[] }

/** The search for the sequences that a first look knows; it can be used for any number of texts. */
export function searchWith(glance: Glance): Search {
  return (bytes) => {
    const { ranges, compressed } = rangesIn(bytes, glance)
    return { ranges: joined(ranges), compressed }
  }
}

function rangesIn(bytes: Uint8Array, glance: Glance): ReturnType<Search> {
  const { pairs, byCode } = glance
  const ranges: Range[] = []
  const compressed: number[] = []
  const follow = follower(bytes)
  let start = 0
  const follows = (writing: Sequence['writing']) => (code: number, from: number) => {
    for (const sequence of byCode[writing].get(code) ?? []) {
      if (!mayGoOn(bytes, from, sequence)) continue
      const end = follow.to(from, sequence)
      if (end === -1) continue
      ranges.push(withRagged(bytes, { start, end }, sequence))
    }
  }
  const [text, hex, decimal] = [follows('text'), follows('hex'), follows('decimal')]
  for (let at = nextPlace(bytes, 0, glance); at !== -1; at = nextPlace(bytes, at + 1, glance)) {
    start = at
    const bits = pairs[pairAt(bytes, at)] ?? 0
    if ((bits & (real | gapOnly)) !== 0) readText(bytes, at, text)
    if ((bits & 2) !== 0) readHexPair(bytes, at, hex)
    if ((bits & 4) !== 0) readDecimal(bytes, at, decimal)
    if ((bits & compressedStart) !== 0) compressed.push(at)
    if (follow.reads() > readsMax)
      return { ranges: [{ start: 0, end: bytes.length }], compressed: [] }
  }
  return { ranges, compressed }
}

/** Whether it is worth following; the first few characters tell, and nearly always they say no. */
function mayGoOn(bytes: Uint8Array, from: number, { elements, writing, gap }: Sequence): boolean {
  if (writing === 'hex') return mayGoOnInHex(bytes, from, elements[1])
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

/** Follows all readings of a place at once, and counts what that takes. */
function follower(bytes: Uint8Array) {
  let codes: readonly number[] = []
  let next: number[] = []
  let reads = 0
  const found = (code: number, end: number) => {
    if (codes.includes(code) && end <= bytes.length && !next.includes(end)) next.push(end)
  }
  /** The place behind a whole sequence whose first character ends at a place, otherwise -1. */
  const to = (from: number, sequence: Sequence): number => {
    const read = readers[sequence.writing]
    const last = sequence.elements.length - 1
    let heads = [from]
    for (let at = 1; at <= last && heads.length > 0; at += 1) {
      codes = sequence.elements[at] ?? []
      next = []
      // Nothing that may be meant is passed over: too much of it ends the search.
      if (heads.length > headsMax) reads = readsMax + 1
      for (const head of heads.slice(0, headsMax)) {
        for (const place of placesAfterGap(bytes, head, sequence)) {
          reads += 1
          read(bytes, place, found)
          // Behind the end there is nothing to look for beyond a gap.
          if (at === last && next.length > 0) break
        }
      }
      heads = next
    }
    return Math.max(-1, ...heads)
  }
  return { to, reads: () => reads }
}

/** Digits beside an encoded secret hold some of its bits, also where a line was broken there. */
function withRagged(bytes: Uint8Array, range: Range, sequence: Sequence): Range {
  let { start, end } = range
  for (let left = sequence.ragged; left > 0; left -= 1) {
    const before = placesBeforeLine(bytes, start).find((at) => isDigitOfCode(bytes[at - 1]))
    const after = placesAfterGap(bytes, end, sequence).find((at) => isDigitOfCode(bytes[at]))
    if (before !== undefined) start = before - 1
    if (after !== undefined) end = after + 1
  }
  return { start, end }
}
