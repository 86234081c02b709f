/**
 * The first byte or two of every way to write a character: what the search looks for before it looks
 * closer. A way that is missing here is never found; one too many costs time only.
 */
import { namedEntities } from './entities.ts'
import type { Sequence } from './sequences.ts'

/** One byte, or two where the second is known as well. */
export type Beginning = readonly [first: number, second?: number]

const namesOf = new Map<number, string[]>()
for (const [name, code] of namedEntities) {
  namesOf.set(code, [...(namesOf.get(code) ?? []), `&${name}`])
}

/** All beginnings of one character of a sequence, given by its codes. */
export function beginningsOf(codes: readonly number[], { writing, ragged }: Sequence): Beginning[] {
  if (writing === 'hex') return codes.flatMap(hexPairs)
  if (writing === 'decimal') return codes.map((code) => pairOf(String(code)))
  return codes.flatMap((code) => {
    // Nobody escapes the letters of an encoding.
    const isDigit = ragged > 0 && /[A-Za-z0-9]/.test(String.fromCodePoint(code))
    return isDigit ? [bytesOf(code)] : formsOf(code)
  })
}

/** Of the characters that most secrets consist of, made once. */
const formsOfAscii: (readonly Beginning[])[] = []

function formsOf(code: number): readonly Beginning[] {
  const forms = formsOfAscii[code] ?? [...plainForms(code), ...escapedForms(code)]
  if (code < 0x80) formsOfAscii[code] = forms
  return forms
}

function plainForms(code: number): Beginning[] {
  const wide = code >= 0x21 && code <= 0x7e ? [bytesOf(code + 0xfee0)] : []
  const space = code === 0x20 ? [pairOf('+')] : []
  return [bytesOf(code), ...wide, ...space]
}

/** Of escapes whose first two bytes do not tell the character. */
const anyForms = ['%2', '%u', '%U', 'U+', 'u+', '&#', '&a', '\\x', '\\X', '\\u', '\\U', '\\\\']

function escapedForms(code: number): Beginning[] {
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

/** Both cases of two hexadecimal digits. */
function hexPairs(code: number): Beginning[] {
  const digits = (code & 0xff).toString(16).padStart(2, '0')
  const first = digits.slice(0, 1)
  const second = digits.slice(1)
  return [first, first.toUpperCase()].flatMap((one) =>
    [second, second.toUpperCase()].map((other) => pairOf(one + other)),
  )
}

function bytesOf(code: number): Beginning {
  if (code < 0x80) return [code]
  const [first = 0, second] = new TextEncoder().encode(String.fromCodePoint(code))
  return second === undefined ? [first] : [first, second]
}

function pairOf(text: string): Beginning {
  return text.length === 1 ? [text.charCodeAt(0)] : [text.charCodeAt(0), text.charCodeAt(1)]
}
