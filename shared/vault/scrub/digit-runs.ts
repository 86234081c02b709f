/** Long runs of an encoding's digits, also broken into lines and escaped. */
import { decodeBytes } from '../../base64.ts'
import { isDigitOfCode } from './bytes.ts'
import type { MakeReader } from './units.ts'

/** Bytes that were decoded. */
export type Bytes = Uint8Array<ArrayBuffer>

type Read = ReturnType<MakeReader>

const longMin = 40
const longRunsMax = 128

/** Fewest digits before a line break: shorter lines are not part of an encoding. */
const lineMin = 4
/** Most characters of a line break with its indentation, each of which may be escaped. */
const breakMax = 12

/** Table with 1 for each byte that is a digit. */
type Digits = Uint8Array

/** Table of the hexadecimal digits. */
export const hexDigits = tableOf((byte) => /[0-9a-fA-F]/.test(String.fromCharCode(byte)))
/** Table of the digits of base32, in either case. */
export const base32Digits = tableOf((byte) => /[2-7a-zA-Z]/.test(String.fromCharCode(byte)))
/** Table of the digits of base64, in both alphabets. */
export const base64Digits = tableOf(isDigitOfCode)

function tableOf(is: (byte: number) => boolean): Digits {
  return Uint8Array.from({ length: 256 }, (_, byte) => (is(byte) ? 1 : 0))
}

/** A run of digits: its range in the bytes, and the digits alone. */
export type DigitRun = { start: number; end: number; digits: string }

/** Reads all digits from a place on; it decodes escapes and passes over line breaks. */
export function digitsFrom(
  bytes: Uint8Array,
  start: number,
  { table, read }: { table: Digits; read: Read },
): DigitRun {
  const parts: string[] = []
  let [end, next, count] = [start, start, 0]
  for (let signs = 0; next < bytes.length && signs < breakMax; ) {
    const from = next
    next = behind(bytes, next, table)
    if (next > from) {
      parts.push(latin1.decode(bytes.subarray(from, next)))
      count += next - from
      end = next
      signs = 0
    }
    // A sign of equality is no escape among digits: a value may follow it.
    if (bytes[next] === 0x3d && !isBreak(bytes[next + 1] ?? 0)) break
    const one = read(next)
    if (table[one.code] === 1) {
      parts.push(String.fromCharCode(one.code))
      count += 1
      end = one.end
      signs = 0
    } else if (count >= lineMin && (isBreak(one.code) || (signs > 0 && isIndent(one.code))))
      signs += 1
    else break
    next = one.end
  }
  return { start, end, digits: parts.join('') }
}

const latin1 = new TextDecoder('latin1')

function behind(bytes: Uint8Array, from: number, table: Digits): number {
  let end = from
  while (table[bytes[end] ?? 0] === 1) end += 1
  return end
}

function isBreak(code: number): boolean {
  return code === 10 || code === 13
}

function isIndent(code: number): boolean {
  return code === 9 || code === 32 || code === 62
}

/** Returns all runs of so many digits or more, in order. */
export function runsOf(
  bytes: Uint8Array,
  { table, read, digitsMin }: { table: Digits; read: Read; digitsMin: number },
): DigitRun[] {
  const runs: DigitRun[] = []
  for (let at = 0; at < bytes.length; at += 1) {
    if (table[bytes[at] ?? 0] !== 1) continue
    const end = behind(bytes, at, table)
    if (end - at < digitsMin && !mayGoOn.includes(bytes[end] ?? 0)) {
      at = end
      continue
    }
    const run = digitsFrom(bytes, at, { table, read })
    if (run.digits.length >= digitsMin) runs.push(run)
    at = run.end
  }
  return runs
}

/** Returns the place behind up to six padding characters, the most that base32 has. */
export function behindPadding(bytes: Uint8Array, from: number): number {
  let end = from
  while (end < from + 6 && bytes[end] === 0x3d) end += 1
  return end
}

/**
 * Returns the longest base64 runs that could be compressed data without a header, as in SAML: the type of
 * its first block fits (RFC 1951 section 3.2.3), and it has digits of all kinds, as random data has.
 */
export function longRuns(bytes: Uint8Array, read: Read): DigitRun[] {
  return runsOf(bytes, { table: base64Digits, read, digitsMin: longMin })
    .filter(({ digits }) => mayInflate(digits))
    .toSorted((a, b) => b.digits.length - a.digits.length)
    .slice(0, longRunsMax)
}

/** Bytes that begin an escape or a line break. */
const mayGoOn = Array.from('%\\&=\r\n', (one) => one.charCodeAt(0))

function mayInflate(digits: string): boolean {
  const head = digits.slice(0, 2)
  const [first = 0, second = 0] = Array.from(head, (one) => alphabet.indexOf(one))
  const kind = (((first << 2) | (second >> 4)) >> 1) & 3
  const part = digits.slice(0, longMin)
  return (
    (kind === 1 || kind === 2) && /[A-Z]/.test(part) && /[a-z]/.test(part) && /[0-9]/.test(part)
  )
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Decodes hexadecimal digits; a last one without its pair is left out. */
export function fromHex(digits: string): Bytes {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** Decodes base64 digits of either alphabet; a last one that is less than a byte is left out. */
export function fromBase64(digits: string): Bytes {
  return decodeBytes(digits.length % 4 === 1 ? digits.slice(0, -1) : digits) ?? new Uint8Array()
}
