/**
 * What is looked for when a secret may have come back: the characters of each form that an encoder
 * makes of it, in their order. How a single character may be written is said in readings.ts.
 */

import { type Alike, likeNone } from './alike.ts'
import {
  base32Of,
  base64AroundOf,
  base64Of,
  binaryOf,
  bytesOf,
  type Choices,
  type Digits,
  hexOf,
} from './encodings.ts'
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

const htmlEscapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])
/** Fewer digits of an encoding than this say too little, and stand everywhere. */
const digitsMin = 5

/** All forms of a secret, and of all texts whose characters are like its own. */
export function sequencesOf(secret: string, alike: Alike = likeNone): Sequence[] {
  // Eight digits with anything between them are in a long table of numbers.
  const gap = secret.length >= (/[^0-9]/.test(secret) ? 8 : 9) ? 'any' : 'hidden'
  const backwards = Array.from(secret).reverse().join('')
  const texts = new Set([secret, secret.normalize('NFC'), secret.normalize('NFD'), backwards])
  const written = Array.from(texts, (text) => asText(text, { gap, alike }))
  const numbered = [secret, backwards].flatMap((text) =>
    codeLists(text).flatMap((codes) => [
      asNumbers(codes.map(alike), 'hex'),
      ...(codes.length * 2 >= digitsMin ? [asNumbers(codes.map(alike), 'decimal')] : []),
    ]),
  )
  const encoded = [secret, backwards].flatMap((text) => asDigits(text, alike))
  const others = [...bytesOfLatin(secret), ...bytesOfEscapes(secret)]
    .flatMap((bytes) => base64Of(choicesOf(bytes, alike)))
    .map((digits) => asCode(digits, 1))
    .filter(isLong)
  const plain = [...written, ...written.slice(0, 1).map(rotated)]
  const sequences = [...plain, ...inGroups(secret, alike), ...numbered, ...encoded, ...others]
  return [...sequences, ...asDigitsOfPin(choicesOf(utf8(secret), alike))]
}

/** A short code as pages show it, `604 918`, as a number is written, and each digit in a box. */
function inGroups(code: string, alike: Alike): Sequence[] {
  if (!/^[0-9]{6,8}$/.test(code)) return []
  const separators = Array.from(" -,.'_\u00a0\u202f", codeOf)
  const grouped = [2, 3, 4].flatMap((size) => [
    code.replaceAll(new RegExp(`(?<=^(?:.{${size}})+)(?=.)`, 'g'), ' '),
    code.replaceAll(new RegExp(`(?<=.)(?=(?:.{${size}})+$)`, 'g'), ' '),
  ])
  const groups = [...new Set(grouped)].map((text) => ({
    ...asText(text, { gap: 'hidden', alike }),
    elements: Array.from(text, (one) => (one === ' ' ? separators : alike(codeOf(one)))),
  }))
  return [...groups, asText(code, { gap: 'apart', alike })]
}

function asText(text: string, { gap, alike }: { gap: Gap; alike: Alike }): Sequence {
  const known = new Map<string, number[]>()
  const elements = Array.from(text, (one) => {
    const cases = known.get(one) ?? [...new Set(alike(codeOf(one)).flatMap(casesOf))]
    known.set(one, cases)
    return cases
  })
  return { elements, writing: 'text', gap, ragged: 0 }
}

/** ROT13. What is like a letter is not rotated to what is like the rotated one. */
function rotated(sequence: Sequence): Sequence {
  return { ...sequence, elements: sequence.elements.map((codes) => codes.map(rotatedLetter)) }
}

function rotatedLetter(code: number): number {
  const lower = code | 0x20
  if (lower < 0x61 || lower > 0x7a || code > 0x7a) return code
  return lower < 0x6e ? code + 13 : code - 13
}

function asNumbers(elements: Choices, writing: 'hex' | 'decimal'): Sequence {
  return { elements, writing, gap: 'any', ragged: 0 }
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

function choicesOf(bytes: Uint8Array, alike: Alike): Choices {
  return Array.from(bytes, alike)
}

/** Base64, base32, binary, and what is written backwards of them. */
function asDigits(text: string, alike: Alike): Sequence[] {
  const bytes = choicesOf(utf8(text), alike)
  const once = base64Of(bytes)
  const twice = once.flatMap((digits) => base64Of(bytesOf(digits)))
  const base32 = base32Of(bytes)
  const forwards = [
    ...once,
    ...base64Of(choicesOf(utf16LittleEnd(text), alike)),
    ...base64Of(choicesOf(utf16BigEnd(text), alike)),
    ...base32,
    ...base32.map((digits) => digits.map((choices) => choices.toLowerCase())),
    binaryOf(bytes),
  ]
  const reversed = [...once, hexOf(bytes)].map((digits) => digits.toReversed())
  const all = [...forwards, ...reversed]
  const distinct = new Map(all.map((digits) => [digits.join(' '), digits])).values()
  // The ragged digit of the inner encoding lies in up to three of the outer.
  return [
    ...Array.from(distinct, (digits) => asCode(digits, 1)),
    ...twice.map((digits) => asCode(digits, 3)),
  ].filter(isLong)
}

function isLong({ elements }: Sequence): boolean {
  return elements.length >= digitsMin
}

/** One byte a character, as `btoa` takes them. */
function bytesOfLatin(text: string): Uint8Array[] {
  const bytes = inLatin(text)
  return bytes === undefined || bytes.every((byte) => byte < 128) ? [] : [bytes]
}

/** In a URL, in JSON and in HTML, where the secret is written otherwise there. */
function bytesOfEscapes(text: string): Uint8Array[] {
  const html = text.replaceAll(/[&<>"']/g, (one) => htmlEscapes.get(one) ?? one)
  const escaped = [encodeURIComponent(text), JSON.stringify(text).slice(1, -1), html]
  const distinct = new Set(escaped.filter((one) => one !== text))
  return Array.from(distinct, utf8)
}

/** Few digits of four bytes are theirs alone, so those at the ends count as well. */
function asDigitsOfPin(bytes: Choices): Sequence[] {
  return bytes.length === 4 ? [asCode(base64AroundOf(bytes), 1)] : []
}

function asCode(digits: Digits, ragged: number): Sequence {
  const elements = digits.map((choices) =>
    choices.length === 1 ? alternativesOf(choices) : Array.from(choices).flatMap(alternativesOf),
  )
  return { elements, writing: 'text', gap: 'line', ragged }
}

/** RFC 4648 section 5 writes two digits of base64 otherwise. */
function alternativesOf(digit: string): readonly number[] {
  return alternatives.get(digit) ?? likeNone(codeOf(digit))
}

const alternatives: ReadonlyMap<string, readonly number[]> = new Map(
  Array.from('+-/_', (digit) => {
    const both = ['+-', '/_'].find((pair) => pair.includes(digit)) ?? digit
    return [digit, Array.from(both, codeOf)]
  }),
)
