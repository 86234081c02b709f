/** Long runs of digits of an encoding, as they are broken into lines and escaped. */
import { isDigitOfCode } from './bytes.ts'
import type { MakeReader } from './units.ts'

type Read = ReturnType<MakeReader>

const longMin = 40
const longRunsMax = 32

/** A shorter line is none of an encoding. */
const lineMin = 4
/** A line break with its indentation, each sign of which may be escaped. */
const breakMax = 12

/** 1 for each byte that is a digit. */
type Digits = Uint8Array

/** Digits of hexadecimal numbers, and of base64 in both alphabets. */
export const hexDigits = tableOf((byte) => /[0-9a-fA-F]/.test(String.fromCharCode(byte)))
/** See `hexDigits`. */
export const base64Digits = tableOf(isDigitOfCode)

function tableOf(is: (byte: number) => boolean): Digits {
  return Uint8Array.from({ length: 256 }, (_, byte) => (is(byte) ? 1 : 0))
}

/** Where digits stand, and they alone. */
export type DigitRun = { start: number; end: number; digits: string }

/** All digits from a place on: escapes are opened, and line breaks passed over. */
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

/**
 * The longest runs of base64 that could be compressed data without a head, as SAML has it: its first
 * byte tells the kind of its first block (RFC 1951 section 3.2.3), and chance makes it of all digits.
 */
export function longRuns(bytes: Uint8Array, read: Read): DigitRun[] {
  const runs: DigitRun[] = []
  for (let at = 0; at < bytes.length; at += 1) {
    if (base64Digits[bytes[at] ?? 0] !== 1) continue
    const end = behind(bytes, at, base64Digits)
    if (end - at < longMin && !mayGoOn.includes(bytes[end] ?? 0)) {
      at = end
      continue
    }
    const run = digitsFrom(bytes, at, { table: base64Digits, read })
    if (run.digits.length >= longMin && mayInflate(run.digits)) runs.push(run)
    at = run.end
  }
  return runs.toSorted((a, b) => b.digits.length - a.digits.length).slice(0, longRunsMax)
}

/** What escapes and line breaks begin with. */
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
