/**
 * Readings of one character, in every way that it can be written. Each function reads at a place in UTF-8
 * bytes and reports every character that may be meant there, with the place behind it.
 */
import { isDigit, isLetterOrDigit } from './bytes.ts'
import { codeOfName } from './entities.ts'

/** Callback that receives a character's code and the place where it ends. */
export type OnReading = (code: number, end: number) => void

const nestedMax = 4
const [percent, ampersand, plus, equals, backslash] = [0x25, 0x26, 0x2b, 0x3d, 0x5c]

/** Value of each hexadecimal digit by its byte; 255 for any other byte. */
const hexValues = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(value) ? 255 : value
})

/** Reads the character itself, or one escaped for a URL, JSON, a programming language, HTML or a mail. */
export function readText(bytes: Uint8Array, at: number, found: OnReading): void {
  readPlain(bytes, at, found)
  if (mayEscape[bytes[at] ?? 0] === 0) return
  readEscaped(bytes, at, (code, end) => {
    found(code, end)
    if (code >= 0x80) readOn(bytes, { code, end }, found)
  })
}

/** Table of the bytes that begin an escape. */
const mayEscape = Uint8Array.from({ length: 256 }, (_, byte) =>
  '%\\&=Uu'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

function readEscaped(bytes: Uint8Array, at: number, found: OnReading): void {
  const byte = bytes[at]
  if (byte === percent) readPercent(bytes, at, found)
  else if (byte === backslash) readBackslash(bytes, at, found)
  else if (byte === ampersand) readEntity(bytes, at, found)
  // RFC 2045 section 6.7: quoted-printable.
  else if (byte === equals) readDigits(bytes, at + 1, { digits: 2, found })
  else if (bytes[at + 1] === plus) readDigits(bytes, at + 2, { digits: 4, found })
}

/** Reads a character in pieces: the second half of UTF-16, or the other bytes of UTF-8. */
function readOn(bytes: Uint8Array, first: { code: number; end: number }, found: OnReading): void {
  const { code, end } = first
  if (code >= 0xd800 && code < 0xdc00) {
    readEscaped(bytes, end, (low, behind) => {
      if (low >= 0xdc00 && low < 0xe000) {
        found(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), behind)
      }
    })
  }
  if (code < 0xc2 || code > 0xf4) return
  const more = code < 0xe0 ? 1 : code < 0xf0 ? 2 : 3
  const addByte = (value: number, from: number, left: number): void => {
    if (left === 0) return found(value, from)
    readEscaped(bytes, from, (next, behind) => {
      if (next >> 6 === 2) addByte((value << 6) | (next & 0x3f), behind, left - 1)
    })
  }
  addByte(code & (0x3f >> more), end, more)
}

/** Reads two hexadecimal digits. */
export function readHexPair(bytes: Uint8Array, at: number, found: OnReading): void {
  readDigits(bytes, at, { digits: 2, found })
}

/** Reads all decimal digits at a place; reports nothing if there are more than seven. */
export function readDecimal(bytes: Uint8Array, at: number, found: OnReading): void {
  let [value, end] = [0, at]
  for (; end < at + 8 && isDigit(bytes[end]); end += 1) value = value * 10 + (bytes[end] ?? 0) - 48
  if (end > at && end < at + 8) found(value, end)
}

function readPlain(bytes: Uint8Array, at: number, found: OnReading): void {
  const first = bytes[at] ?? 0
  if (first === plus) found(0x20, at + 1)
  if (first < 0x80) return found(first, at + 1)
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  let code = first & (0x7f >> length)
  for (let next = at + 1; next < at + length; next += 1) {
    code = (code << 6) | ((bytes[next] ?? 0) & 0x3f)
  }
  // To a reader, full-width forms are the same characters.
  found(code >= 0xff01 && code <= 0xff5e ? code - 0xfee0 : code, at + length)
}

/** Reads `%41`, `%2541` with deeper nesting, and `%u0041`. */
function readPercent(bytes: Uint8Array, at: number, found: OnReading): void {
  let next = at + 1
  for (let depth = 0; depth < nestedMax; depth += 1) {
    readDigits(bytes, next, { digits: 2, found })
    if (bytes[next] !== 0x32 || bytes[next + 1] !== 0x35) break
    next += 2
  }
  if (bytes[next] === 0x75 || bytes[next] === 0x55)
    readDigits(bytes, next + 1, { digits: 4, found })
}

/** Reads `\n`, `\x41`, `\u0041`, `\u{41}`, `\U00000041` or `\101`, with any extra backslashes. */
function readBackslash(bytes: Uint8Array, at: number, found: OnReading): void {
  let next = at
  while (bytes[next] === backslash && next < at + 16) {
    next += 1
    found(backslash, next)
  }
  const byte = bytes[next] ?? 0
  if (byte === 0x78 || byte === 0x58) readDigits(bytes, next + 1, { digits: 2, found })
  else if (byte === 0x55) readDigits(bytes, next + 1, { digits: 8, found })
  else if (byte === 0x75 && bytes[next + 1] === 0x7b) readMany(bytes, next + 2, found)
  else if (byte === 0x75) readDigits(bytes, next + 1, { digits: 4, found })
  else if (isDigit(byte)) readDigits(bytes, next, { digits: 3, found, base: 8 })
  else if (byte < 0x80 && !isLetterOrDigit(byte)) found(byte, next + 1)
  const control = ['b', 't', 'n', 'v', 'f', 'r'].indexOf(String.fromCharCode(byte))
  if (control !== -1) found(8 + control, next + 1)
}

/** Reads `&#65;`, `&#x41;`, `&amp;#65;` with deeper nesting, or `&quot;`; the semicolon is optional. */
function readEntity(bytes: Uint8Array, at: number, found: OnReading): void {
  let next = at + 1
  for (let depth = 0; depth < nestedMax && isAmp(bytes, next); depth += 1) next += 4
  const close: OnReading = (code, end) => found(code, bytes[end] === 0x3b ? end + 1 : end)
  if (bytes[next] === 0x23) {
    const isHex = bytes[next + 1] === 0x78 || bytes[next + 1] === 0x58
    readMany(bytes, next + (isHex ? 2 : 1), close, isHex ? 16 : 10)
    return
  }
  if (next > at + 1) found(ampersand, next)
  let name = ''
  for (let end = next; end < next + 16 && isLetterOrDigit(bytes[end] ?? 0); end += 1) {
    name += String.fromCharCode(bytes[end] ?? 0)
  }
  const code = codeOfName(name)
  if (code !== undefined) close(code, next + name.length)
}

/** Reads up to 16 digits, leading zeros included, and passes over a closing brace. */
function readMany(bytes: Uint8Array, at: number, found: OnReading, base: 10 | 16 = 16): void {
  let [value, end] = [0, at]
  while (end < at + 16 && (hexValues[bytes[end] ?? 0] ?? 255) < base) {
    value = Math.min(value * base + (hexValues[bytes[end] ?? 0] ?? 0), 0x110000)
    end += 1
  }
  if (end > at) found(value, bytes[end] === 0x7d ? end + 1 : end)
}

function readDigits(
  bytes: Uint8Array,
  at: number,
  { digits, found, base = 16 }: { digits: number; found: OnReading; base?: 8 | 16 },
): void {
  let value = 0
  for (let next = at; next < at + digits; next += 1) {
    const digit = next < bytes.length ? (hexValues[bytes[next] ?? 0] ?? 255) : 255
    if (digit >= base) return
    value = value * base + digit
  }
  found(value, at + digits)
}

function isAmp(bytes: Uint8Array, at: number): boolean {
  const [a, m, p, semicolon] = [0x61, 0x6d, 0x70, 0x3b]
  const isName = bytes[at] === a && bytes[at + 1] === m && bytes[at + 2] === p
  return isName && bytes[at + 3] === semicolon
}
