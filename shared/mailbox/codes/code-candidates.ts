/**
 * Finds the places in a folded text where a one-time code could be, by form alone. It leaves out text
 * whose form shows that it is something else, such as a date, an amount or a phone number.
 */
import {
  countOrBrand,
  isRandomInText,
  isYear,
  type NamedText,
  runAt,
  runsOf,
} from './random-text.ts'
import { isAlone, isTouched, lineEnd, lineStart, type Span, spansOf } from './text-lines.ts'
import { promising } from './words.ts'

/** A span that has the form of a code. */
export type Candidate = Span & { form: 'digits' | 'grouped' | 'mixed' | 'letters' }

const edge = '[\\p{Script=Latin}\\p{Script=Cyrillic}\\p{N}]'
const before = `(?<!${edge}|${edge}[-./:,_]|[#@/=&])`
const after = `(?!${edge}|[-./:,_]${edge}|[@%])`

const forms: readonly [Candidate['form'], RegExp][] = [
  // Matches 4 8 2 9 1 3, also with one character per line, as table cells become.
  ['grouped', formPattern('[a-z0-9](?:[ \\n\\t]{1,3}(?:-[ \\n\\t]{1,3})?[a-z0-9]){3,9}')],
  ['grouped', formPattern('\\d{2,5}(?:[ -]\\d{2,5}){1,11}')],
  ['grouped', formPattern('[a-z0-9]{1,6}(?:-[a-z0-9]{2,8}){1,4}')],
  ['digits', formPattern('\\d{4,10}')],
  ['mixed', formPattern('(?=[a-z]{0,11}\\d)(?=\\d{0,11}[a-z])[a-z0-9]{4,12}')],
  ['letters', formPattern('[a-z]{2,5}(?:-[a-z]{2,5}){1,3}')],
  ['letters', formPattern('[a-z](?:[ \\n\\t]{1,3}[a-z]){3,9}')],
  ['letters', formPattern('[a-z]{4,10}')],
]

function formPattern(form: string): RegExp {
  return new RegExp(`${before}${form}${after}`, 'gu')
}

const currency =
  '(?:[$€£¥₺₽₹₩฿]|zl|eur|usd|gbp|chf|pln|rub|try|cny|jpy|brl|r\\$|tl|kr|euro|dollar|руб\\p{L}{0,8}|元|円|块)'

/** Forms of text that is not a code. */
const known: readonly RegExp[] = [
  // Dates and times.
  /(?<![a-z0-9][./-]?)\d{1,4}([./-])\d{1,2}\1\d{1,4}(?![./-]?[a-z0-9])/g,
  /\d{4} ?[年년]|\d{1,2} ?[月日]/gu,
  /\b(?:19|20)\d\d-\d\d-\d\dt?/g,
  /\d{1,2}:\d{2}(?::\d{2})?/g,
  /(?:©|\(c\)|copyright) ?\d{4}(?:-\d{4})?/g,
  /\d{1,2}(?:\.|st|nd|rd|th)?[ \n](?:de )?\p{L}{3,12}\.?[ \n](?:de )?(?:19|20)\d\d/gu,
  // A word is read only once, from its beginning; of a long one the end counts.
  /(?:(?<!\p{L})\p{L}{3,12} | (?<=\p{L}{12} ))\d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d\d/gu,
  // Amounts and percentages.
  new RegExp(`${currency} ?\\d[\\d.,' ]{0,30}`, 'gu'),
  new RegExp(`(?<!\\d)\\d[\\d.,' ]{0,31}(?![\\d.,' ])${currency}(?!\\p{Script=Latin})`, 'gu'),
  /\d{1,3}(?:[.,' ]\d{3}){0,6}[.,]\d{1,2}(?!\d)/g,
  /(?<!\d)\d{1,10}(?:[.,]\d{1,9})? ?%|% ?\d{1,9}/g,
  // Network addresses and versions.
  /(?<!\d)\d{1,9}(?:\.\d{1,9}){2,8}/g,
  /(?:[0-9a-f]{1,4}:){3,8}[0-9a-f:]{0,8}/g,
  // Phone numbers: with a country code, an area code in brackets, or a leading zero.
  /\+\d[\d ()./\n-]{6,24}\d/g,
  /\(\d{2,5}\)[ -]?[\d ./-]{5,20}\d/g,
  /(?<!\d[ -]?)0\d{1,5}[ /-]\d[\d -]{4,20}\d(?![ -]?\d)/g,
  /(?<!\d)\d{3}[ -]\d{3}[ -]\d{4}(?!\d)/g,
  // Accounts, cards, parcels and orders.
  /\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,4})?\b/g,
  /[*•x.·]{2,16}[ -]?\d{4}(?![\d*])/g,
  /\b1z[a-z0-9]{16}\b|\b[a-z]{2}\d{9}[a-z]{2}\b/g,
  /\d{11,}/g,
  /\d{3}-\d{7}-\d{7}/g,
]

const ofMailbox = /[^\s@<>()]/

/** Returns the mail addresses of a text. Each character is read twice at most. */
function mailboxesIn(text: string): Span[] {
  const found: Span[] = []
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let [start, end] = [at, at + 1]
    while (start > (found.at(-1)?.end ?? 0) && ofMailbox.test(text.charAt(start - 1))) start -= 1
    while (end < text.length && ofMailbox.test(text.charAt(end))) end += 1
    found.push({ start, end })
  }
  return found
}

/** Returns the candidates in order and without overlaps. `taken` are spans known to be something else. */
export function candidatesIn(text: string, original: (span: Span) => string, taken: Span[]) {
  const others = known.flatMap((pattern) => spansOf(pattern, text))
  const passed = [...taken, ...others, ...mailboxesIn(text)]
  const found: Candidate[] = []
  const covered = coverOf(text.length, passed)
  for (const [form, pattern] of forms) {
    for (const span of spansOf(pattern, text)) {
      if (covered.subarray(span.start, span.end).includes(1)) continue
      if (!hasForm(form, original(span))) continue
      covered.fill(1, span.start, span.end)
      found.push({ ...span, form })
    }
  }
  return found.toSorted((a, b) => a.start - b.start)
}

function coverOf(length: number, spans: readonly Span[]): Uint8Array {
  const covered = new Uint8Array(length)
  for (const { start, end } of spans) covered.fill(1, start, end)
  return covered
}

/** Checks what folding hides: words are in lower case, while codes that have letters are not. */
function hasForm(form: Candidate['form'], written: string): boolean {
  if (form === 'digits') return true
  const signs = written.normalize('NFKC').replaceAll(/[^\p{L}\p{N}]/gu, '')
  if (form === 'letters') return /^[A-Z]+$/.test(signs)
  if (countOrBrand.test(written)) return false
  if (signs.length < 4 || signs.length > 60 || !/\p{N}/u.test(signs)) return false
  // A word with a number, as in iphone-15 or covid19, has all its letters together and in lower case.
  return !/^\p{Ll}{3,}\p{N}+$/u.test(signs)
}

const run =
  /(?<!\S)[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{4,64}/gu

/** Returns the candidates and the runs that look random. Capitals alone and years must have a line of their own. */
export function runsByForm(
  page: Pick<NamedText, 'text' | 'written' | 'links'>,
  candidates: readonly Candidate[],
): Span[] {
  const formed = candidates.filter((one) => {
    const isDoubtful = one.form === 'letters' || isYear(page.written(one))
    return !isDoubtful || /-/.test(page.written(one)) || isAlone(page.text, one)
  })
  const random = runsOf(page, run)
    .flatMap(({ start }) => runAt(page, start) ?? [])
    .filter((span) => isRandomInText(page.written(span)) && isMixed(page.written(span)))
  return [...formed, ...random].filter((span) => !isTouched(page.links, span))
}

/** Returns true for more than digits, which are candidates, and more than capitals, which are often words. */
const isMixed = (written: string) =>
  /\p{L}/u.test(written) && /[^\p{Lu}]/u.test(written.replace(/\p{P}{1,4}$/u, ''))

/** A word in capitals, with a number of up to four digits or without one. */
const promotionForm = /^\p{Lu}{3,14}[-_]?\d{0,4}$/u

/** Returns true if a value has the form of a promotion's code and its line, or one beside it, promises something. */
export function isPromotion(text: string, { start, end }: Span, written: string): boolean {
  if (!promotionForm.test(written)) return false
  const from = lineStart(text, Math.max(0, lineStart(text, start) - 1))
  return promising.test(text.slice(from, lineEnd(text, end)))
}
