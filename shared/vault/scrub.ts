/**
 * Removes secrets from a text before an agent reads it: as they are, percent-encoded, escaped for JSON or
 * HTML, in base64 and in hexadecimal digits. Other encodings are not recognized. The answer to a request
 * that carried a password or a code is not shown at all, so it needs no removal.
 */
import { encodeBase64 } from '../base64.ts'

/** Mark that replaces a removed secret. */
export const removedMark = '[secret removed]'

/** Fewest characters of a secret whose removal does not reveal it: a PIN is found by trying all. */
const removableCharactersMin = 8

/** Function that returns a text without the secrets, and the number of places from which it took one. */
export type Redactor = (text: string) => { text: string; removed: number }

/** True if a secret is too long to be found by guesses at it in an answer that repeats them. */
export function isRemovable(secret: string): boolean {
  return Array.from(secret).length >= removableCharactersMin
}

/** Prepares removal of secrets from texts. Empty secrets are ignored. */
export function redactorFor(secrets: readonly string[]): Redactor {
  const distinct = [...new Set(secrets)].filter((secret) => secret !== '')
  const forms = distinct
    .toSorted((one, other) => other.length - one.length)
    .flatMap((secret) => [escapedForm(secret), ...encodedForms(secret)])
  const long = forms.filter(({ length }) => length > wholeSignsMax).map(longForm)
  const whole = forms.filter(({ length }) => length <= wholeSignsMax).map((form) => form.join(''))
  const pattern = whole.length === 0 ? undefined : new RegExp(whole.join('|'), flags)
  return (text) => {
    let removed = 0
    const mark = () => {
      removed += 1
      return removedMark
    }
    const rest = long.reduce((left, form) => replaceLong(left, form, mark), text)
    return { text: pattern ? rest.replaceAll(pattern, mark) : rest, removed }
  }
}

/** Form of a secret in a text: a pattern for each of its characters. */
type Form = readonly string[]

const flags = 'giu'
/** Most characters of a form in one pattern; a key of some kilobytes would make one that no engine takes. */
const wholeSignsMax = 40

type LongForm = { start: RegExp; rest: readonly RegExp[] }

/** Prepares a long form: its start is searched for, and its rest is compared sign by sign. */
function longForm(form: Form): LongForm {
  const signs = new Map<string, RegExp>()
  const rest = form.slice(wholeSignsMax).map((sign) => {
    const pattern = signs.get(sign) ?? new RegExp(sign, 'yiu')
    signs.set(sign, pattern)
    return pattern
  })
  // The look-ahead finds starts that overlap.
  return { start: new RegExp(`(?=(${form.slice(0, wholeSignsMax).join('')}))`, flags), rest }
}

/** Most starts of a long form that lead to nothing. A text with more of them is cut there, to bound the work. */
const wrongStartsMax = 1_000

function replaceLong(text: string, { start, rest }: LongForm, mark: () => string): string {
  let [kept, from, wrongStarts] = ['', 0, 0]
  for (const { index, 1: found = '' } of text.matchAll(start)) {
    if (index < from) continue
    const end = endOf(text, rest, index + found.length)
    if (end === undefined) wrongStarts += 1
    if (end === undefined && wrongStarts <= wrongStartsMax) continue
    kept += text.slice(from, index) + mark()
    from = end ?? text.length
  }
  return kept + text.slice(from)
}

function endOf(text: string, signs: readonly RegExp[], at: number): number | undefined {
  let end = at
  for (const sign of signs) {
    sign.lastIndex = end
    if (!sign.test(text)) return undefined
    end = sign.lastIndex
  }
  return end
}

/** Returns the most characters that one of a secret takes in a text, `&#x0000041;` for example. */
export function charactersTaken(secret: string): number {
  return secret.length * 12
}

/** Names of HTML entities for characters that sites escape. */
const entityNames: Readonly<Record<string, string>> = {
  '"': 'quot',
  '&': 'amp',
  "'": 'apos',
  '<': 'lt',
  '>': 'gt',
  ' ': 'nbsp',
}

/** Returns the form of a text in which each character may be escaped for an address, JSON or HTML. */
function escapedForm(text: string): Form {
  return Array.from(text, (sign) => {
    const code = sign.codePointAt(0) ?? 0
    const units = Array.from({ length: sign.length }, (_, at) => hex(sign.charCodeAt(at), 4))
    const bytes = Array.from(new TextEncoder().encode(sign), (byte) => hex(byte, 2))
    const name = entityNames[sign]
    const ways = [
      `\\\\?${literal(sign)}`,
      units.map((unit) => `\\\\+u${unit}`).join(''),
      // Sites that escape what was escaped write %25 for each percent sign.
      bytes.map((byte) => `%(?:25){0,3}${byte}`).join(''),
      `&(?:amp;)?#0{0,6}${code};`,
      `&(?:amp;)?#x0{0,6}${hex(code, 1)};`,
      ...(name === undefined ? [] : [`&(?:amp;)?${name};`]),
      ...(sign === ' ' ? ['\\+'] : []),
      ...(sign === '\n' ? ['\\\\n', '\\r\\n', '\\\\r\\\\n', '%0d%0a'] : []),
    ]
    return `(?:${ways.join('|')})`
  })
}

/** Returns the forms in hexadecimal digits and in base64 at each of its three phases. */
function encodedForms(text: string): Form[] {
  const bytes = new TextEncoder().encode(text)
  const digits = Array.from(bytes, (byte) => hex(byte, 2))
  const phases = [0, 1, 2].flatMap((before) => {
    const shifted = new Uint8Array(before + bytes.length)
    shifted.set(bytes, before)
    // The characters at both ends also hold bits of neighbouring bytes.
    const from = Math.ceil((before * 4) / 3)
    const to = Math.floor((shifted.length * 4) / 3)
    const whole = encodeBase64(shifted).slice(from, to)
    const first = before === 0 ? [] : [anySign]
    const last = shifted.length % 3 === 0 ? [] : [`${anySign}(?:=|%3d){0,2}`]
    return whole.length < base64SignsMin
      ? []
      : [[...first, ...Array.from(whole, base64Sign), ...last]]
  })
  return [digits, ...phases]
}

/** Fewest characters in base64 to look for: the middle of a PIN occurs anywhere. */
const base64SignsMin = 4

const anySign = '(?:[a-z0-9+/_-]|%2b|%2f)'

function base64Sign(sign: string): string {
  if (sign === '+') return '(?:[+-]|%2b)'
  return sign === '/' ? '(?:\\\\?/|_|%2f)' : sign
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}
