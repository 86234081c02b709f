/**
 * What is looked for when a secret may have come back: the characters of each form that an encoder
 * makes of it, in their order. How a single character may be written is said in readings.ts.
 */

import { inLatin } from './latin.ts'

/** What stands between two characters and does not count; with `apart` it has to be there. */
export type Gap = 'hidden' | 'any' | 'line' | 'apart'

/** Characters in order, each with the codes that may stand for it. */
export type Sequence = {
  elements: readonly (readonly number[])[]
  /** As text, as pairs of hexadecimal digits, or as decimal numbers. */
  writing: 'text' | 'hex' | 'decimal'
  gap: Gap
  /** How many digits on each side hold some bits of the secret too; 0 where it is no encoding. */
  ragged: number
}

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const htmlEscapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])
/** Fewer digits of an encoding than this say too little, and stand everywhere. */
const digitsMin = 5

/** All forms of a secret. */
export function sequencesOf(secret: string): Sequence[] {
  // Eight digits with anything between them are in a long table of numbers.
  const gap = secret.length >= (/[^0-9]/.test(secret) ? 8 : 9) ? 'any' : 'hidden'
  const backwards = Array.from(secret).reverse().join('')
  const rotated = secret.replace(/[a-z]/gi, (letter) =>
    String.fromCharCode(letter.charCodeAt(0) + (letter.toLowerCase() < 'n' ? 13 : -13)),
  )
  const texts = new Set([secret, secret.normalize('NFC'), secret.normalize('NFD'), backwards])
  const written = [...texts, rotated].map((text) => asText(text, gap))
  const numbered = [secret, backwards].flatMap((text) =>
    codeLists(text).flatMap((codes) => [
      asNumbers(codes, 'hex'),
      ...(codes.length * 2 >= digitsMin ? [asNumbers(codes, 'decimal')] : []),
    ]),
  )
  const encoded = [
    ...asDigits(secret),
    ...asDigits(backwards),
    ...asDigitsOfLatin(secret),
    ...asDigitsOfEscapes(secret),
    ...asDigitsOfPin(secret),
  ]
  return [...written, ...inGroups(secret), ...numbered, ...encoded]
}

/** A short code as pages show it, `604 918`, as a number is written, and each digit in a box. */
function inGroups(code: string): Sequence[] {
  if (!/^[0-9]{6,8}$/.test(code)) return []
  const separators = Array.from(" -,.'_\u00a0\u202f", codeOf)
  const grouped = [2, 3, 4].flatMap((size) => [
    code.replaceAll(new RegExp(`(?<=^(?:.{${size}})+)(?=.)`, 'g'), ' '),
    code.replaceAll(new RegExp(`(?<=.)(?=(?:.{${size}})+$)`, 'g'), ' '),
  ])
  const groups = [...new Set(grouped)].map((text) => ({
    ...asText(text, 'hidden'),
    elements: Array.from(text, (one) => (one === ' ' ? separators : [codeOf(one)])),
  }))
  return [...groups, asText(code, 'apart')]
}

function asText(text: string, gap: Gap): Sequence {
  const known = new Map<string, number[]>()
  const elements = Array.from(text, (one) => {
    const cases = known.get(one) ?? casesOf(codeOf(one))
    known.set(one, cases)
    return cases
  })
  return { elements, writing: 'text', gap, ragged: 0 }
}

function asNumbers(codes: readonly number[], writing: 'hex' | 'decimal'): Sequence {
  return { elements: codes.map((code) => [code]), writing, gap: 'any', ragged: 0 }
}

/** Characters, units of UTF-16, and the bytes of encodings; for ASCII most of them are the same. */
function codeLists(text: string): number[][] {
  const lists = [
    Array.from(text, codeOf),
    Array.from(text.split(''), codeOf),
    ...[utf8, utf16LittleEnd, utf16BigEnd].map((encode) => Array.from(encode(text))),
  ]
  return [...new Map(lists.map((codes) => [codes.join(), codes])).values()]
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Without the zeros at the ends, which are there for any secret. */
function utf16LittleEnd(text: string): Uint8Array {
  const bytes = text
    .split('')
    .flatMap((unit) => [unit.charCodeAt(0) & 0xff, unit.charCodeAt(0) >> 8])
  return Uint8Array.from(bytes.at(-1) === 0 ? bytes.slice(0, -1) : bytes)
}

function utf16BigEnd(text: string): Uint8Array {
  const bytes = text
    .split('')
    .flatMap((unit) => [unit.charCodeAt(0) >> 8, unit.charCodeAt(0) & 0xff])
  return Uint8Array.from(bytes[0] === 0 ? bytes.slice(1) : bytes)
}

function casesOf(code: number): number[] {
  const one = String.fromCodePoint(code)
  const cases = [one, one.toLowerCase(), one.toUpperCase(), one.normalize('NFKC')]
  return [...new Set(cases.flatMap((text) => (text.length === one.length ? codeOf(text) : [])))]
}

function codeOf(text: string): number {
  return text.codePointAt(0) ?? 0
}

/** Base64, base32 and binary: with what stands before it, a secret has several forms. */
function asDigits(text: string): Sequence[] {
  const once = digitsOf(utf8(text), base64Digits, 6)
  const twice = once.flatMap((digits) => digitsOf(utf8(digits), base64Digits, 6))
  const base32 = digitsOf(utf8(text), base32Digits, 5)
  const forwards = [
    ...once,
    ...digitsOf(utf16LittleEnd(text), base64Digits, 6),
    ...digitsOf(utf16BigEnd(text), base64Digits, 6),
    ...base32,
    ...base32.map((digits) => digits.toLowerCase()),
    ...digitsOf(utf8(text), '01', 1),
  ]
  const reversed = [...once, hexOf(utf8(text))].map((digits) => digits.split('').reverse().join(''))
  const distinct = [...new Set([...forwards, ...reversed])]
  // The ragged digit of the inner encoding lies in up to three of the outer.
  return [
    ...distinct.map((digits) => asCode(digits, 1)),
    ...twice.map((digits) => asCode(digits, 3)),
  ].filter(({ elements }) => elements.length >= digitsMin)
}

/** Base64 of one byte a character, as `btoa` makes it. */
function asDigitsOfLatin(text: string): Sequence[] {
  const bytes = inLatin(text)
  if (bytes === undefined || bytes.every((byte) => byte < 128)) return []
  return digitsOf(bytes, base64Digits, 6)
    .filter((digits) => digits.length >= digitsMin)
    .map((digits) => asCode(digits, 1))
}

/** Base64 of a URL, of JSON and of HTML with the secret in them, where it is written otherwise there. */
function asDigitsOfEscapes(text: string): Sequence[] {
  const html = text.replaceAll(/[&<>"']/g, (one) => htmlEscapes.get(one) ?? one)
  const escaped = [encodeURIComponent(text), JSON.stringify(text).slice(1, -1), html]
  const distinct = new Set(escaped.filter((one) => one !== text))
  return [...distinct]
    .flatMap((one) => digitsOf(utf8(one), base64Digits, 6))
    .filter((digits) => digits.length >= digitsMin)
    .map((digits) => asCode(digits, 1))
}

/**
 * Base64 of four bytes behind one more: few of its digits are theirs alone, so those at the ends count
 * as well, by the bits that they have of it.
 */
function asDigitsOfPin(pin: string): Sequence[] {
  const bytes = Array.from(utf8(pin), (byte) => byte.toString(2).padStart(8, '0')).join('')
  if (bytes.length !== 32) return []
  const groups = `..${bytes}..`.match(/.{6}/g) ?? []
  const elements = groups.map((group) =>
    base64Digits
      .split('')
      .filter((_, at) => new RegExp(`^${group}$`).test(at.toString(2).padStart(6, '0')))
      .flatMap(alternativesOf),
  )
  return [{ elements, writing: 'text', gap: 'line', ragged: 1 }]
}

function asCode(digits: string, ragged: number): Sequence {
  return { elements: digits.split('').map(alternativesOf), writing: 'text', gap: 'line', ragged }
}

/** The digits that a text's bytes alone decide, for each place that they can have in a group. */
function digitsOf(bytes: Uint8Array, alphabet: string, bits: 1 | 5 | 6): string[] {
  const places = bits === 1 ? 1 : bits === 5 ? 5 : 3
  return Array.from({ length: places }, (_, place) => {
    let digits = ''
    // Bits of the first bytes that belong to a digit which others decide as well are let go.
    let [held, count, passed] = [0, 0, (bits - ((place * 8) % bits)) % bits]
    for (const byte of bytes) {
      held = ((held << 8) | byte) & 0xffff
      count += 8
      if (passed > 0) {
        count -= passed
        passed = 0
      }
      for (; count >= bits; count -= bits) {
        digits += alphabet[(held >> (count - bits)) & ((1 << bits) - 1)] ?? ''
      }
    }
    return digits
  })
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** RFC 4648 section 5 writes two digits of base64 otherwise. */
function alternativesOf(digit: string): readonly number[] {
  return alternatives.get(digit) ?? [codeOf(digit)]
}

const alternatives: ReadonlyMap<string, readonly number[]> = new Map(
  Array.from(`${base64Digits}-_`, (digit) => {
    const both = ['+-', '/_'].find((pair) => pair.includes(digit)) ?? digit
    return [digit, Array.from(both, codeOf)]
  }),
)
