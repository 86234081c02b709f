/**
 * Search in text that is encoded in base64, base32 or hexadecimal digits: a secret that was escaped first, as in
 * the body of a form, has digits of its own for each way to escape it. So the text is decoded and read.
 */
import { decodeBase32 } from '../../base32.ts'
import {
  type Bytes,
  base32Digits,
  base64Digits,
  behindPadding,
  type DigitRun,
  fromBase64,
  fromHex,
  hexDigits,
  runsOf,
} from './digit-runs.ts'
import type { Range } from './range.ts'
import type { Search, Work } from './search.ts'
import type { MakeReader } from './units.ts'

/** Number of times that a text may have been encoded. */
const depthMax = 3

/** Digits of an encoding, with the fewest worth decoding, and the number that stand for whole bytes. */
const encodings = [
  { table: base64Digits, digitsMin: 10, group: 4, decode: fromBase64 },
  {
    table: base32Digits,
    digitsMin: 16,
    group: 8,
    decode: (digits: string) => decodeBase32(digits.toUpperCase()),
  },
  { table: hexDigits, digitsMin: 16, group: 2, decode: fromHex },
]

/** Returns the runs of digits that decode to text with secrets. */
export function encodedRanges(
  bytes: Uint8Array,
  { search, work, makeReader }: { search: Search; work: Work; makeReader: MakeReader },
  depth = depthMax,
): Range[] {
  const read = makeReader(bytes)
  const holdsSecret = (text: Bytes) =>
    search(text, work).ranges.length > 0 ||
    (depth > 1 && encodedRanges(text, { search, work, makeReader }, depth - 1).length > 0)
  return encodings.flatMap(({ table, digitsMin, group, decode }) =>
    runsOf(bytes, { table, read, digitsMin })
      .filter(({ digits }) => textsOf(digits, group, decode).some(holdsSecret))
      .map(({ start, end }: DigitRun) => ({ start, end: behindPadding(bytes, end) })),
  )
}

/** Decodes from each place of a group: digits of other text may stand before the first group. */
function textsOf(digits: string, group: number, decode: (digits: string) => Bytes): Bytes[] {
  return Array.from({ length: group }, (_, at) => decode(digits.slice(at))).filter(isText)
}

/** True if nearly all is ASCII or UTF-8, as text is; of random bytes three in eight are ASCII. */
function isText(bytes: Bytes): boolean {
  let count = 0
  for (const byte of bytes) if (byte >= 0x20 && byte < 0x7f) count += 1
  return count >= bytes.length * 0.75 || isUtf8(bytes)
}

/** True if the bytes are UTF-8 without control characters, but for a character at each end, which may be cut. */
function isUtf8(bytes: Bytes): boolean {
  let left = 0
  for (const [at, byte] of bytes.entries()) {
    const isPart = byte >> 6 === 2
    if (isPart !== left > 0 && !(isPart && at < 3)) return false
    if (isPart) left = Math.max(0, left - 1)
    else if (byte >= 0xc2 && byte < 0xf5) left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
    else if (byte >= 0x7f || (byte < 0x20 && !(byte === 9 || byte === 10 || byte === 13)))
      return false
  }
  return true
}
