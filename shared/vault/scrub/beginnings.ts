/**
 * First byte or two of every way to write a character, for which the search looks before it looks closer. A
 * missing beginning means that a writing is never found; a superfluous one costs only time.
 */
import { isLetterOrDigit } from './bytes.ts'
import { namedEntities } from './entities.ts'
import type { Sequence } from './sequences.ts'

/** First byte of a writing, and the second if it is known as well. */
export type WritingPrefix = readonly [first: number, second?: number]

const namesOf = new Map<number, string[]>()
for (const [name, code] of namedEntities) {
  namesOf.set(code, [...(namesOf.get(code) ?? []), `&${name}`])
}

/** Returns all beginnings of one character of a sequence, given by its codes. */
export function writingPrefixes(
  codes: readonly number[],
  { writing, ragged }: Sequence,
): WritingPrefix[] {
  if (writing === 'hex') return codes.flatMap(hexPairs)
  if (writing === 'decimal') return codes.map((code) => pairOf(String(code)))
  return codes.flatMap((code) => {
    // Encoders do not escape the letters and digits of an encoding.
    return ragged > 0 && isLetterOrDigit(code) ? [bytesOf(code)] : formsOf(code)
  })
}

/** Beginnings of ASCII characters, of which most secrets consist, computed once. */
const formsOfAscii: (readonly WritingPrefix[])[] = []

function formsOf(code: number): readonly WritingPrefix[] {
  const forms = formsOfAscii[code] ?? [...plainForms(code), ...escapedForms(code)]
  if (code < 0x80) formsOfAscii[code] = forms
  return forms
}

function plainForms(code: number): WritingPrefix[] {
  const wide = code >= 0x21 && code <= 0x7e ? [bytesOf(code + 0xfee0)] : []
  const space = code === 0x20 ? [pairOf('+')] : []
  return [bytesOf(code), ...wide, ...space]
}

/** Beginnings of escapes whose first two bytes do not determine the character. */
const anyForms = ['%2', '%u', '%U', 'U+', 'u+', '&#', '&a', '\\x', '\\X', '\\u', '\\U', '\\\\']

function escapedForms(code: number): WritingPrefix[] {
  const [byte = 0] = new TextEncoder().encode(String.fromCodePoint(code))
  const octal = [code, byte].map((number) => number.toString(8).padStart(3, '0').slice(0, 1))
  const controls = ['\\b', '\\t', '\\n', '\\v', '\\f', '\\r'].slice(code - 8, code - 7)
  return [
    ...[...hexPairs(code), ...hexPairs(byte)].flatMap(([first]) => {
      const digit = String.fromCharCode(first)
      return [`%${digit}`, `=${digit}`]
    }),
    ...anyForms,
    ...octal.map((digit) => `\\${digit}`),
    ...(code < 0x80 ? [`\\${String.fromCharCode(code)}`] : []),
    ...(namesOf.get(code) ?? []),
    ...(code >= 8 ? controls : []),
  ].map(pairOf)
}

/** Returns both cases of two hexadecimal digits. */
function hexPairs(code: number): WritingPrefix[] {
  const digits = (code & 0xff).toString(16).padStart(2, '0')
  const first = digits.slice(0, 1)
  const second = digits.slice(1)
  return [first, first.toUpperCase()].flatMap((one) =>
    [second, second.toUpperCase()].map((other) => pairOf(one + other)),
  )
}

function bytesOf(code: number): WritingPrefix {
  if (code < 0x80) return [code]
  const [first = 0, second] = new TextEncoder().encode(String.fromCodePoint(code))
  return second === undefined ? [first] : [first, second]
}

function pairOf(text: string): WritingPrefix {
  return text.length === 1 ? [text.charCodeAt(0)] : [text.charCodeAt(0), text.charCodeAt(1)]
}
