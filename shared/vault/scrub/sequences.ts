/**
 * Sequences to search for, since a secret may have come back: the characters of each form that an encoder
 * makes of it, in order. readings.ts covers the ways to write a single character.
 */

import { type Equivalents, onlyItself } from './alike.ts'
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

/** Kind of gap that may stand between two characters; with `apart` a gap is required. */
export type Gap = 'hidden' | 'any' | 'line' | 'apart'

/** Characters in order, each with the codes that may stand for it. */
export type Sequence = {
  elements: readonly (readonly number[])[]
  /** Writing of the characters: as text, as pairs of hexadecimal digits, or as decimal numbers. */
  writing: 'text' | 'hex' | 'decimal'
  gap: Gap
  /** Number of digits on each side that also hold some bits of the secret; 0 if it is not an encoding. */
  ragged: number
}

const htmlEscapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])
/** Fewest digits of an encoding to search for: fewer say too little and occur everywhere. */
const digitsMin = 5

/** Returns all forms of a secret, and of all texts whose characters are like its own. */
export function sequencesOf(secret: string, alike: Equivalents = onlyItself): Sequence[] {
  // Long tables of numbers contain any eight digits with gaps between them.
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

/** Returns a short code in groups (`604 918`), as a number is written, and with a gap after each digit. */
function inGroups(code: string, alike: Equivalents): Sequence[] {
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

function asText(text: string, { gap, alike }: { gap: Gap; alike: Equivalents }): Sequence {
  const known = new Map<string, number[]>()
  const elements = Array.from(text, (one) => {
    const cases = known.get(one) ?? [...new Set(alike(codeOf(one)).flatMap(casesOf))]
    known.set(one, cases)
    return cases
  })
  return { elements, writing: 'text', gap, ragged: 0 }
}

/** Applies ROT13. Letters that are like a letter do not rotate to those that are like the rotated one. */
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

/** Returns the codes of characters, of UTF-16 units, and of encoded bytes; most coincide for ASCII. */
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

/** Encodes the text without the zero at its end, which every secret has there. */
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

function choicesOf(bytes: Uint8Array, alike: Equivalents): Choices {
  return Array.from(bytes, alike)
}

/** Returns base64, base32 and binary forms, and some of them reversed. */
function asDigits(text: string, alike: Equivalents): Sequence[] {
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
  // The ragged digit of the inner encoding lies in up to three digits of the outer one.
  return [
    ...Array.from(distinct, (digits) => asCode(digits, 1)),
    ...twice.map((digits) => asCode(digits, 3)),
  ].filter(isLong)
}

function isLong({ elements }: Sequence): boolean {
  return elements.length >= digitsMin
}

/** Encodes each character as one byte, as `btoa` does. */
function bytesOfLatin(text: string): Uint8Array[] {
  const bytes = inLatin(text)
  return bytes === undefined || bytes.every((byte) => byte < 128) ? [] : [bytes]
}

/** Returns the secret as escaped for a URL, JSON and HTML, if that differs from the secret. */
function bytesOfEscapes(text: string): Uint8Array[] {
  const html = text.replaceAll(/[&<>"']/g, (one) => htmlEscapes.get(one) ?? one)
  const escaped = [encodeURIComponent(text), JSON.stringify(text).slice(1, -1), html]
  const distinct = new Set(escaped.filter((one) => one !== text))
  return Array.from(distinct, utf8)
}

/** Four bytes determine few digits alone, so the digits at both ends count as well. */
function asDigitsOfPin(bytes: Choices): Sequence[] {
  return bytes.length === 4 ? [asCode(base64AroundOf(bytes), 1)] : []
}

function asCode(digits: Digits, ragged: number): Sequence {
  const elements = digits.map((choices) =>
    choices.length === 1 ? alternativesOf(choices) : Array.from(choices).flatMap(alternativesOf),
  )
  return { elements, writing: 'text', gap: 'line', ragged }
}

/** Returns the codes of a digit; RFC 4648 section 5 writes two digits of base64 differently. */
function alternativesOf(digit: string): readonly number[] {
  return alternatives.get(digit) ?? onlyItself(codeOf(digit))
}

const alternatives: ReadonlyMap<string, readonly number[]> = new Map(
  Array.from('+-/_', (digit) => {
    const both = ['+-', '/_'].find((pair) => pair.includes(digit)) ?? digit
    return [digit, Array.from(both, codeOf)]
  }),
)
