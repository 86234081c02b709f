/**
 * Finds sequences in bytes. A table of two-byte beginnings passes over nearly all of an answer at
 * about a nanosecond a byte; only where one of them stands is looked closer. Every reading of a place
 * is followed at once, so an answer that was made to be ambiguous costs little more than another.
 */
import { beginningsOf } from './beginnings.ts'
import { compressedStarts } from './compressed-starts.ts'
import { afterGap, gapStarts, isPunctuation, placesAfterGap, placesBeforeLine } from './gaps.ts'
import { joined, type Range } from './range.ts'
import {
  isDigit,
  isDigitOfCode,
  isLetterOrDigit,
  readDecimal,
  readHexPair,
  readText,
} from './readings.ts'
import type { Sequence } from './sequences.ts'

const headsMax = 32
/** Places that are read closely, for one text: ten times what the most tangled pages take. */
const readsMax = 2_000_000
/** Bits of the table of pairs beside those of the writings; in `behind`, a byte has one of both. */
const [real, gapOnly, compressedStart] = [1, 8, 16]
const writings = ['text', 'hex', 'decimal'] as const
const readers = { text: readText, hex: readHexPair, decimal: readDecimal }

/**
 * What was found, in order and without overlap, and where compressed data may begin. A text made to be
 * read in too many ways is one range as a whole.
 */
export type Search = (bytes: Uint8Array) => { ranges: Range[]; compressed: number[] }

/** A sequence, and what each byte would be behind its first character. */
type Candidate = { sequence: Sequence; behind: Uint8Array }

/**
 * What may begin with a pair of bytes, as bits; which three letters or digits do, by `tripleAt`; and
 * which sequences begin with a character.
 */
type Index = {
  pairs: Uint8Array
  triples: Uint8Array
  byCode: Record<Sequence['writing'], Map<number, Candidate[]>>
}

/** Prepares the search for sequences; it can be used for any number of texts. */
export function searchFor(sequences: readonly Sequence[]): Search {
  const index: Index = {
    pairs: new Uint8Array(65_536),
    triples: new Uint8Array(65_536),
    byCode: { text: new Map(), hex: new Map(), decimal: new Map() },
  }
  for (const sequence of sequences) addTo(index, sequence)
  for (const start of compressedStarts) {
    const pair = (start.charCodeAt(0) << 8) | start.charCodeAt(1)
    index.pairs[pair] = (index.pairs[pair] ?? 0) | compressedStart
  }
  return (bytes) => {
    const { ranges, compressed } = rangesIn(bytes, index)
    return { ranges: joined(ranges), compressed }
  }
}

function addTo(index: Index, sequence: Sequence): void {
  const { pairs, byCode } = index
  const { elements, writing } = sequence
  const bit = 1 << writings.indexOf(writing)
  const behind = bytesBehind(sequence)
  const candidate = { sequence, behind }
  for (const code of elements[0] ?? []) {
    const list = byCode[writing].get(code)
    if (list === undefined) byCode[writing].set(code, [candidate])
    else list.push(candidate)
  }
  const mark = (first: number, second: number, bits: number) => {
    const pair = (first << 8) | second
    pairs[pair] = (pairs[pair] ?? 0) | bits
  }
  const followers = [...behind.keys()].filter((byte) => behind[byte] !== 0)
  for (const [first, second] of beginningsOf(elements[0] ?? [], sequence)) {
    if (second !== undefined) mark(first, second, bit)
    else for (const other of followers) mark(first, other, behind[other] === real ? bit : gapOnly)
  }
  if (writing === 'text') addTriples(index, sequence)
}

/** Behind a plain character: the next one and its escapes, or a gap. */
function bytesBehind(sequence: Sequence): Uint8Array {
  const behind = new Uint8Array(256)
  const next = sequence.elements[1]
  // A single character may be followed by anything.
  if (next === undefined) return behind.fill(real)
  for (const first of gapStarts[sequence.gap]) behind[first] = gapOnly
  for (const [first] of beginningsOf(next, sequence)) behind[first] = real
  return behind
}

/** Where nothing but letters and digits stands, three of them tell more than two. */
function addTriples({ triples }: Index, { elements }: Sequence): void {
  const [firsts = [], seconds = letters, thirds = letters] = elements
  for (const first of firsts) {
    for (const second of seconds) {
      for (const third of thirds) triples[tripleAt(first, second, third)] = 1
    }
  }
}

/** A place in a table of 65,536; others may share it. */
function tripleAt(first: number, second: number, third: number): number {
  return (first * 1_031 + second * 37 + third) & 0xffff
}

function rangesIn(bytes: Uint8Array, index: Index): ReturnType<Search> {
  const { pairs, byCode } = index
  const ranges: Range[] = []
  const compressed: number[] = []
  const follow = follower(bytes)
  let start = 0
  const follows = (writing: Sequence['writing']) => (code: number, from: number) => {
    for (const candidate of byCode[writing].get(code) ?? []) {
      if (!mayGoOn(bytes, from, candidate)) continue
      const { sequence } = candidate
      const end = follow.to(from, sequence)
      if (end === -1) continue
      ranges.push(withRagged(bytes, { start, end }, sequence))
    }
  }
  const [text, hex, decimal] = [follows('text'), follows('hex'), follows('decimal')]
  for (let at = nextHit(bytes, 0, index); at !== -1; at = nextHit(bytes, at + 1, index)) {
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

/** The next place that has to be looked at, or -1. Small on purpose: it sees every byte. */
function nextHit(bytes: Uint8Array, from: number, { pairs, triples }: Index): number {
  let pair = bytes[from] ?? 0
  for (let at = from, last = bytes.length - 1; at < last; at += 1) {
    pair = ((pair & 0xff) << 8) | (bytes[at + 1] ?? 0)
    const bits = pairs[pair] ?? 0
    if (bits === 0) continue
    // A letter before a space, as every fifth of a text is: what is behind it has to fit too.
    const fits =
      bits === gapOnly
        ? fitsBehindGap(bytes, at + 1, pairs, pair & 0xff00)
        : bits !== real || fitsInLetters(bytes, at, triples)
    if (fits) return at
  }
  // The last byte stands alone: only a secret of one character ends with its beginning.
  const at = bytes.length - 1
  return from <= at && (pairs[pairAt(bytes, at)] ?? 0) !== 0 ? at : -1
}

const letters = [...new Uint8Array(128).keys()].filter(isLetterOrDigit)
const isLetter = Uint8Array.from({ length: 256 }, (_, byte) => (isLetterOrDigit(byte) ? 1 : 0))

/** Whether three letters or digits are known as such; what holds anything else has to be looked at. */
function fitsInLetters(bytes: Uint8Array, at: number, triples: Uint8Array): boolean {
  const [first, second, third] = [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0]
  if (isLetter[first] === 0 || isLetter[second] === 0 || isLetter[third] === 0) return true
  // `U+0041`: a letter that may begin another one.
  if ((third | 0x20) === 0x75) return true
  return triples[tripleAt(first, second, third)] === 1
}

function pairAt(bytes: Uint8Array, at: number): number {
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

/** An equals sign that begins no escape of quoted-printable, as in every tag with attributes. */
function isLoneEquals(bytes: Uint8Array, at: number): boolean {
  const next = bytes[at + 1] ?? 0
  return bytes[at] === 0x3d && !isLetterOrDigit(next) && next !== 0x0a && next !== 0x0d
}

/** A quick no for what does not go on, which is nearly always; the first few characters tell. */
function mayGoOn(bytes: Uint8Array, from: number, { sequence }: Candidate): boolean {
  const { elements, writing, gap } = sequence
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
