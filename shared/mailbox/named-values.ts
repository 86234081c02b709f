/**
 * Secrets that have no form of their own: whatever follows the name of a code, password, token or key
 * up to the next space, whatever its signs, length and case. Where it is not announced by a colon, a
 * verb or a line of its own, it has to look as if drawn at random.
 */
import type { Span } from './code-candidates.ts'
import { isTouched, lastIn } from './code-candidates.ts'
import { labelGap } from './code-words.ts'
import { isDrawn, isSecret, looksDrawn } from './drawn-text.ts'
import {
  announcement,
  knownKey,
  phraseName,
  saidBefore,
  saying,
  tellsTime,
  tellsWhom,
  usedFor,
  weakName,
} from './secret-words.ts'

/** A folded text with its links, the names in it and the words that name other things. */
export type NamedText = {
  text: string
  /** A stretch as it is written. */
  written: (span: Span) => string
  links: readonly Span[]
  names: readonly Span[]
  others: readonly Span[]
}

/** Characters after a name in which its secret begins, and before one in which it stands. */
const reach = 260
const before = 130
/** Lines of a list of codes. */
const linesMax = 40
const valueLengthMax = 4_096
const aloneOnLine = /^[ \t>*_]{0,8}([^\s*_]{3,63}[^\s*_.,;!?])[ \t*_]{0,8}$/gmu
/** Chinese and Japanese have no spaces, and no secret is written in them. */
const runPattern =
  /^[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\u30fb\u30fc]+/u

/** The secrets of a text, in no order; several may cover each other. */
export function namedValues(page: NamedText): Span[] {
  const keys = runsOf(page, knownKey)
  const used = page.names.length === 0 ? [] : runsOf(page, usedFor).filter(isRandomIn(page))
  const named = page.names.flatMap((name) => [...after(page, name), ...ahead(page, name)])
  return [...keys, ...used, ...named].filter((span) => !isTouched(page.links, span))
}

/**
 * What could be the secret of a text that names one and in which none was found: what is alone on its
 * line, or to be used or entered, and is no word with a capital.
 */
export function unnamedValues(page: NamedText): Span[] {
  if (page.names.length === 0) return []
  const lines = runsOf(page, aloneOnLine).filter((span) => isApart(page.text, span))
  return [...runsOf(page, usedFor), ...lines].filter(
    (span) => isDrawn(page.written(span)) && !isTouched(page.links, span) && !isTouched(page.names, span),
  )
}

/** What a pattern finds: its group, or all of it. */
function runsOf({ text }: NamedText, pattern: RegExp): Span[] {
  return [...text.matchAll(pattern)].map(({ 0: whole, 1: group = whole, index }) => {
    const start = index + whole.indexOf(group)
    return { start, end: start + group.length }
  })
}

function isRandomIn({ written }: NamedText) {
  return (span: Span) => looksDrawn(written(span))
}

function after(page: NamedText, name: Span): Span[] {
  const { text } = page
  const rest = text.slice(name.end, name.end + reach)
  const isWeak = weakName.test(text.slice(name.start, name.end))
  const announced = announcement.exec(rest)?.[0]
  const verbal = said(page, name, announced ?? rest, isWeak)
  if (verbal) return verbal
  if (announced !== undefined && !isOther(page, name, announced.slice(0, -1))) {
    const found = announcedAt(page, name, announced)
    if (found.length > 0) return isWeak ? found.filter(isRandomIn(page)) : found
  }
  return direct(page, name, rest) ?? onOwnLine(page, name, rest)
}

/** Whether the words up to the colon end in the name of another number. */
function isOther({ text, others }: NamedText, name: Span, words: string): boolean {
  const other = lastIn(others, { start: name.end, end: name.end + words.length })
  return other !== undefined && labelGap.test(text.slice(other.end, name.end + words.length))
}

function announcedAt(page: NamedText, name: Span, announced: string): Span[] {
  const at = name.end + announced.length
  const isPhrase = phraseName.test(page.text.slice(name.start, name.end))
  const line = restOfLine(page.text, at)
  if (line === undefined) return linesFrom(page, at, isPhrase ? 'phrase' : 'announced')
  if (isPhrase) return [line]
  const value = runAt(page, line.start)
  if (!value) return []
  const written = page.written(value)
  const isTime = tellsTime.test(announced) && /^[\d.:/-]+[.,]?$/.test(written)
  if (isTime || tellsWhom.test(announced) || !isSecret(written)) return []
  const hasManyWords = announced.trim().split(/\s+/).length > 4
  const isLast = /^[.!]?$/.test(page.text.slice(value.end, line.end).trim())
  return hasManyWords && !isLast && !isDrawn(written) ? [] : [value]
}

/** What a verb says the secret to be, in the line of its name or wrapped into the next. */
function said(page: NamedText, name: Span, rest: string, isWeak: boolean): Span[] | undefined {
  const sentence = /^[^.!?]{0,160}/.exec(rest)?.[0] ?? ''
  for (const verb of [...sentence.matchAll(saying)].slice(0, 4)) {
    const at = name.end + verb.index + verb[0].length
    if (!isVerb(page, name, { start: at - verb[0].length, end: at })) continue
    const value = runAt(page, at + (/^[\s:]*/.exec(page.text.slice(at, at + 8))?.[0].length ?? 0))
    if (!value) continue
    const written = page.written(value)
    const isWhole = !isWeak && isSecret(written) && endsThere(page, value)
    if (isWhole || looksDrawn(written)) return [value]
  }
  return undefined
}

/** Whether the part of the sentence ends with a word; a short number is a time or a count. */
function endsThere({ text }: NamedText, { start, end }: Span): boolean {
  return !/^\d{1,3}$/.test(text.slice(start, end)) && /^(?:[.,;!]?\s|[.,;!]?$|\s?[(\n])/.test(text.slice(end, end + 3)) && !/^ \p{L}/u.test(text.slice(end, end + 2))
}

/** Polish says to, which is another word elsewhere; without its accent e means and. */
function isVerb({ text, written }: NamedText, name: Span, verb: Span): boolean {
  const word = text.slice(verb.start, verb.end).trim()
  if (word === 'to') return /^(?:kod|hasl)/.test(text.slice(name.start, name.end))
  return word !== 'e' || /[éèÉÈ]/.test(written(verb).normalize('NFC'))
}

/** What stands right behind the name. */
function direct(page: NamedText, name: Span, rest: string): Span[] | undefined {
  const gap = /^\p{L}{0,14}[ \t"'«»„“”(*_>`-]{1,6}(?=\S)/u.exec(rest)?.[0]
  const value = gap === undefined ? undefined : runAt(page, name.end + gap.length)
  return value && isRandomIn(page)(value) ? [value] : undefined
}

function onOwnLine(page: NamedText, name: Span, rest: string): Span[] {
  const end = rest.indexOf('\n')
  return end === -1 ? [] : linesFrom(page, name.end + end, 'unannounced')
}

/** What of a line follows a place; nothing where that is only marks and space. */
function restOfLine(text: string, at: number): Span | undefined {
  const line = text.slice(at, at + valueLengthMax)
  const end = line.search(/\n|$/)
  const start = line.slice(0, end).search(/[^\s*_>`|-]/)
  return start === -1 ? undefined : { start: at + start, end: at + end }
}

type Way = 'announced' | 'unannounced' | 'phrase'

/** Lines of one secret each, of which the first is the next that has anything in it. */
function linesFrom(page: NamedText, from: number, way: Way): Span[] {
  const found: Span[] = []
  let at = from
  while (found.length < linesMax) {
    const gap = /^[^\S\n]{0,20}(?:\n[^\S\n]{0,20}){1,4}/.exec(page.text.slice(at, at + 120))?.[0]
    const line = gap === undefined ? undefined : restOfLine(page.text, at + gap.length)
    const value = line && valueOfLine(page, line, found.length === 0 ? way : 'unannounced')
    if (!line || !value) break
    found.push(value)
    at = line.end
  }
  return found
}

function valueOfLine(page: NamedText, line: Span, way: Way): Span | undefined {
  const text = page.text.slice(line.start, line.end)
  if (way === 'phrase') return { start: line.start, end: line.start + text.trimEnd().length }
  const lead = /^["'«„“”(*_>`-]{0,4}(?:\d{1,2}[.)][ \t]{1,3})?/.exec(text)?.[0].length ?? 0
  const whole = { start: line.start + lead, end: line.start + text.trimEnd().length }
  // Cells of a table, one sign each.
  if (/^\S(?: \S){3,}$/.test(text.slice(lead).trimEnd())) return whole
  const value = runAt(page, whole.start)
  if (!value || /[^\s"'»”)*_`|.]/.test(page.text.slice(value.end, whole.end))) return undefined
  const written = page.written(value)
  if (way === 'announced') return isSecret(written) ? value : undefined
  const isWord = value.end < whole.end || !isApart(page.text, value)
  return (isWord ? looksDrawn(written) : isDrawn(written)) ? value : undefined
}

/** Whether a line is no rest of a sentence that was broken for its length. */
function isApart(text: string, { start }: Span): boolean {
  return /^\s*$|[.!?:]\s*$|\n\s*\n\s*$/.test(text.slice(Math.max(0, start - 24), start).replace(/[>*_"'`\- ]+$/, ''))
}

/** The secret that a sentence begins with and names after it. */
function ahead(page: NamedText, name: Span): Span[] {
  const from = Math.max(0, name.start - before)
  const text = page.text.slice(from, name.start)
  const begin = Math.max(0, ...[...text.matchAll(/\n|[.!?] /g)].map(({ index }) => index + 1))
  if (begin === 0 && from > 0) return []
  const sentence = text.slice(begin)
  const value = saidBefore.exec(sentence)?.[1]
  if (value === undefined) return []
  const start = from + begin + sentence.indexOf(value)
  const span = { start, end: start + value.length }
  return isDrawn(page.written(span)) ? [span] : []
}

/** The run of signs without a space at a place; none where that is a link, or its text. */
function runAt({ text, links }: NamedText, at: number): Span | undefined {
  const opened = /^["'«„“”「『【(*_`]{0,3}/.exec(text.slice(at, at + 3))?.[0].length ?? 0
  const start = at + opened
  const run = runPattern.exec(text.slice(start, start + valueLengthMax))?.[0]
  if (run === undefined) return undefined
  if (/^\[[^\]\n]{0,200}\]\(/.test(text.slice(at, at + 204))) return undefined
  const closed = opened === 0 ? run : run.replace(/["'»”」』】)*_`]{1,3}[.,;!?]?$/, '')
  const span = { start, end: start + withoutEnd(closed).length }
  return isTouched(links, span) ? undefined : span
}

/** The mark that ends a sentence belongs to it, unless the run has other signs and may end in one. */
function withoutEnd(run: string): string {
  const bare = run.replace(/[.,;:!?)]{1,3}$/, '')
  return /^[\p{L}\p{N}_-]*$/u.test(bare) ? bare : run
}
