/**
 * Gaps between the characters of a secret that do not hide it from a reader: spaces and punctuation, line
 * breaks of an encoder, tags, and invisible characters.
 */
import { isPunctuation } from './bytes.ts'
import type { Sequence } from './sequences.ts'

const unitsMax = 12
const tagBytesMax = 64

const anyStarts = [...isPunctuation.keys()]
  .filter((byte) => isPunctuation[byte] === 1)
  .concat(0xc2, 0xe2, 0xef)

/** First bytes of possible gaps, by kind. */
export const gapStarts = {
  any: anyStarts,
  apart: anyStarts,
  line: [0x0a, 0x0d, 0x5c, 0x3d],
  hidden: [0x00, 0x3d, 0xc2, 0xe2, 0xef],
}

/** Returns every place where the next character may begin, with `at` first unless a gap is required. */
export function placesAfterGap(bytes: Uint8Array, at: number, sequence: Sequence): number[] {
  const places = sequence.gap === 'apart' ? [] : [at]
  const skip = skips[sequence.gap]
  for (let next = at; places.length <= unitsMax; ) {
    const end = skip(bytes, next, next > at)
    if (end === next) break
    places.push(end)
    next = end
  }
  return sequence.writing === 'hex' ? places.flatMap((place) => afterPrefix(bytes, place)) : places
}

/** Returns the place behind one part of a gap, or `at` if there is none. */
export function afterGap(
  bytes: Uint8Array,
  at: number,
  gap: Sequence['gap'],
  isWithin: boolean,
): number {
  return skips[gap](bytes, at, isWithin)
}

/** Returns every place before `at` where a broken line may have ended, the earliest first. */
export function placesBeforeLine(bytes: Uint8Array, at: number): number[] {
  const places = [at]
  for (let next = at; places.length <= unitsMax; ) {
    const isSpace = [0x0a, 0x0d, 0x20, 0x09, 0x22, 0x3d].includes(bytes[next - 1] ?? 0x41)
    const isEscaped = [0x6e, 0x72].includes(bytes[next - 1] ?? 0x41) && bytes[next - 2] === 0x5c
    if (!isSpace && !isEscaped) break
    next -= isSpace ? 1 : 2
    places.push(next)
  }
  // The earliest comes first: without its backslash, an escaped `n` would pass for a letter.
  return places.toReversed()
}

const skips = {
  any: skipAny,
  apart: skipAny,
  /** Broken lines may also be indented and quoted. */
  line(bytes: Uint8Array, at: number, isWithin: boolean): number {
    const byte = bytes[at] ?? 0x41
    if (byte === 0x5c) return skipEscapedSpace(bytes, at)
    if (byte === 0x0a || byte === 0x0d) return at + 1
    if (isWithin) return byte === 0x20 || byte === 0x09 || byte === 0x22 ? at + 1 : at
    return byte === 0x3d && (bytes[at + 1] === 0x0a || bytes[at + 1] === 0x0d) ? at + 1 : at
  },
  hidden(bytes: Uint8Array, at: number, isWithin: boolean): number {
    const byte = bytes[at] ?? 0x41
    if (byte === 0 || (isWithin && (byte === 0x0a || byte === 0x0d))) return at + 1
    const isSoftBreak = byte === 0x3d && (bytes[at + 1] === 0x0a || bytes[at + 1] === 0x0d)
    return isSoftBreak ? at + 1 : skipInvisible(bytes, at)
  },
}

function skipAny(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0x41
  if (byte === 0x5c) return skipEscapedSpace(bytes, at)
  if (byte === 0x3c) return skipTag(bytes, at)
  return isPunctuation[byte] === 1 ? at + 1 : skipInvisible(bytes, at)
}

/** Skips `\n`, `\r` or `\t` behind any number of backslashes; a backslash alone counts as punctuation. */
function skipEscapedSpace(bytes: Uint8Array, at: number): number {
  let next = at
  while (bytes[next] === 0x5c && next < at + 8) next += 1
  const byte = bytes[next]
  return byte === 0x6e || byte === 0x72 || byte === 0x74 ? next + 1 : at + 1
}

/** Skips a tag or a comment, or only its first character if it does not end soon. */
function skipTag(bytes: Uint8Array, at: number): number {
  const end = bytes.subarray(at, at + tagBytesMax).indexOf(0x3e)
  return end === -1 ? at + 1 : at + end + 1
}

/** Skips a no-break space, soft hyphen, U+200B to U+203F, U+2060 to U+207F or U+FEFF, in UTF-8. */
function skipInvisible(bytes: Uint8Array, at: number): number {
  const [first, second = 0, third = 0] = bytes.subarray(at, at + 3)
  if (first === 0xc2 && (second === 0xad || second === 0xa0)) return at + 2
  if (first === 0xe2 && second === 0x80 && third >= 0x8b) return at + 3
  if (first === 0xe2 && second === 0x81 && third >= 0xa0) return at + 3
  return first === 0xef && second === 0xbb && third === 0xbf ? at + 3 : at
}

/** Skips the prefix of two hexadecimal digits: `0x`, `x`, `u00`, or zeros of UTF-16 and UTF-32. */
function afterPrefix(bytes: Uint8Array, at: number): number[] {
  const places = [at]
  let next = at
  while (bytes[next] === 0x30 && bytes[next + 1] === 0x30 && next < at + 6) {
    next += 2
    places.push(next)
  }
  if (bytes[next] === 0x30) next += 1
  const byte = (bytes[next] ?? 0) | 0x20
  if (byte === 0x78) places.push(next + 1)
  if (byte === 0x75) places.push(next + 1, next + 3)
  return places
}
