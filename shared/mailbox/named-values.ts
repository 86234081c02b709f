/**
 * Secrets that have no form of their own: whatever follows the name of a code, password, token or key
 * up to the next space, whatever its signs, length and case. Where it is not announced by a colon, a
 * verb or a line of its own, it has to look as if drawn at random.
 */

import { labelGap } from './code-words.ts'
import {
  isDate,
  isDrawn,
  isNetworkAddress,
  isSecret,
  looksDrawn,
  withItsPhrase,
} from './drawn-text.ts'
import { verbsOfNames } from './further-words.ts'
import { ahead, isCjk } from './said-before.ts'
import {
  announcement,
  directGap,
  knownBlock,
  knownKey,
  passwordPattern,
  phraseName,
  saying,
  tellsTime,
  usedBefore,
  usedFor,
  weakName,
} from './secret-words.ts'
import type { Span } from './spans.ts'
import { isTouched, lastIn, spanAt } from './spans.ts'
import type { NamedText } from './value-lines.ts'
import {
  belowColons,
  drawnOnLine,
  endsThere,
  linesFrom,
  nextInList,
  restOfLine,
  runAt,
  runsOf,
  tellsWhom,
} from './value-lines.ts'

/** Characters after a name in which its secret begins, and before one in which it stands. */
const reach = 260
const before = 130
/** No mail has more names; of a text that has, all is sealed that looks drawn. */
const namesMax = 1_000
/** A line of few words that ends without a mark stands above what it names. */
const headingMax = 30
const headingBefore = /(?:^|\n)[^\n.,:;!?]{0,29}$/u
const labelledValue =
  /^[\p{L}\p{M}]{0,20}(?: [\p{L}\p{M}]{2,20}){0,2}[ \t]{1,4}(?:-[ \t]{1,3})?(\d{2,4}(?: \d{2,4}){1,3}|\S{4,150})[ \t]{0,4}$/u
const belowUser =
  /(?:^|\n)[ \t]{0,8}[^\n]{0,20}(?:user|login|benutzer|utilisat|usuario|utente|e-?mail|account|konto|identifi|gebruiker|uzytkownik|логин|имя|kullanici|用户|用戶|账号|ユーザ|사용자|아이디|로그인|المستخدم|משתמש|anvandar|bruger|bruker|kayttaja|uzivatel|felhasznalo|korisnick|utilizator|ten|nama)[^\n]{0,60}\n\s{0,8}$/u

/** The secrets of a text, in no order; several may cover each other. */
export function namedValues(page: NamedText): Span[] {
  const used = page.isAbout ? runsOf(page, usedFor).filter((span) => looksDrawnIn(page, span)) : []
  const named = page.names.length > namesMax ? drawnRuns(page) : namedBy(page)
  const keys = runsOf(page, knownKey).map((span) => runAt(page, span.start) ?? span)
  const blocks = [...page.text.matchAll(knownBlock)].map(
    ({ 0: whole, 1: key, 2: shared, index }) => {
      const secret = (key ?? shared ?? '').trimEnd()
      return spanAt(index + whole.lastIndexOf(secret), secret)
    },
  )
  return [...keys, ...blocks, ...used, ...belowColons(page), ...named].filter(
    (span) => !isTouched(page.links, span),
  )
}

/** A name within a secret that was found names nothing. */
function namedBy(page: NamedText): Span[] {
  const found: Span[] = []
  let end = 0
  for (const name of page.names) {
    if (name.start < end) continue
    const behind = after(page, name)
    const values = [
      ...behind,
      ...behind.flatMap((one) => nextInList(page, one)),
      ...ahead(page, name),
    ]
    end = Math.max(end, ...values.map((value) => value.end))
    found.push(...values)
  }
  return found
}

function drawnRuns(page: NamedText): Span[] {
  return runsOf(page, /\S{4,}/g).filter((span) => looksDrawnIn(page, span))
}

function looksDrawnIn({ written }: NamedText, span: Span): boolean {
  return looksDrawn(written(span))
}

function after(page: NamedText, name: Span): Span[] {
  const rest = restAfter(page.text, name)
  const announced = announcement.exec(rest)?.[0]
  const verbal = said(page, name, announced ?? rest)
  if (verbal) return [verbal]
  if (announced !== undefined && !isOther(page, name, announced.slice(0, -1))) {
    const found = announcedAt(page, name, announced)
    if (found.length > 0) return found
  }
  const next = direct(page, name, rest) ?? labelled(page, name)
  if (next) return [next]
  const isPassword = page.text.slice(name.start, name.end).search(passwordPattern) !== -1
  const far = drawnOnLine(page, name, isPassword)
  if (far.length > 0) return far
  const end = rest.indexOf('\n')
  if (end === -1) return []
  const isHeading =
    end < headingMax &&
    headingBefore.test(page.text.slice(Math.max(0, name.start - headingMax), name.start))
  return linesFrom(page, name.end + end, isHeading ? 'heading' : 'unannounced')
}

/** The text after a name, in which a line that was broken for its length is whole. */
function restAfter(text: string, name: Span): string {
  const rest = text.slice(name.end, name.end + reach)
  const end = rest.indexOf('\n')
  const from = Math.max(0, name.start - before)
  const start = from + text.slice(from, name.start).lastIndexOf('\n') + 1
  const length = name.end + end - start
  const isBroken =
    end !== -1 &&
    length > 35 &&
    length < 82 &&
    /[^\s.!?:。।][ \t]?\n\S/.test(text.slice(name.end + end - 2, name.end + end + 2))
  return isBroken ? `${rest.slice(0, end)} ${rest.slice(end + 1)}` : rest
}

/** Whether the words up to the colon end in the name of another number. */
function isOther({ text, others }: NamedText, name: Span, words: string): boolean {
  const other = lastIn(others, { start: name.end, end: name.end + words.length })
  return other !== undefined && labelGap.test(text.slice(other.end, name.end + words.length))
}

/** A key or token by its name alone has to look like one; a token may be of small letters. */
function suits({ text, written }: NamedText, name: Span, value: Span): boolean {
  const called = text.slice(name.start, name.end)
  if (!weakName.test(called)) return isSecret(written(value))
  return /^to[kc]|^ток/.test(called) ? isDrawn(written(value)) : looksDrawn(written(value))
}

function announcedAt(page: NamedText, name: Span, announced: string): Span[] {
  const at = name.end + announced.length
  const isOfWords = phraseName.test(page.text.slice(name.start, name.end))
  const line = restOfLine(page.text, at)
  if (line === undefined) {
    if (tellsWhom.test(announced)) return []
    const lines = linesFrom(page, at, isOfWords ? 'phrase' : 'announced')
    return lines.filter((value) => isOfWords || suits(page, name, value))
  }
  if (isOfWords) return [withItsPhrase(page, line)]
  const value = valueAt(page, name, line.start)
  if (!value || !suits(page, name, value) || tellsWhom.test(announced)) return []
  const written = page.written(value)
  if (/^\d{1,3}$/.test(written)) return []
  if (tellsTime.test(announced) && /^[\d.:/-]+[.,]?$/.test(written)) return []
  const hasManyWords = announced.trim().split(/\s+/).length > 4
  if (hasManyWords && (isDate(written) || isNetworkAddress(written))) return []
  const isLast = /^[.!]?$/.test(page.text.slice(value.end, line.end).trim())
  return hasManyWords && !isLast && !isDrawn(written) ? [] : [value]
}

/** What a verb says the secret to be, in the line of its name or wrapped into the next. */
function said(page: NamedText, name: Span, rest: string): Span | undefined {
  const sentence = /^(?:[^.!?]|[.!?](?=\S)){0,160}/.exec(rest)?.[0] ?? ''
  for (const verb of [...sentence.matchAll(saying)].slice(0, 4)) {
    const at = name.end + verb.index + verb[0].length
    if (!isVerb(page, name, { start: at - verb[0].length, end: at })) continue
    const gap = /^[\s:]*/.exec(page.text.slice(at, at + 8))?.[0].length ?? 0
    const value = valueAt(page, name, at + gap)
    if (!value) continue
    const isNumber = /^(?:\d{1,3}$|\d{1,4}[年月日년월일])/u.test(
      page.text.slice(value.start, value.end + 1),
    )
    const written = page.written(value)
    const isWord = isOfFurther(verb[0]) && /^\p{Ll}+[.!]?$/u.test(written)
    const isOfText = isNumber || isWord || isDate(written)
    const isWhole = suits(page, name, value) && endsThere(page, value) && !isOfText
    if (isWhole || looksDrawnIn(page, value)) return value
  }
  return undefined
}

/** Behind these, what is said of a password is often a word, as that it is changed. */
function isOfFurther(verb: string): boolean {
  return verbsOfNames.some(([one]) => one.test(verb.trim()) && verb.trim() !== 'to')
}

/** Polish says to, Swedish är, which are other words elsewhere; without its accent e means and. */
function isVerb({ text, written }: NamedText, name: Span, verb: Span): boolean {
  const word = text.slice(verb.start, verb.end).trim()
  const called = text.slice(name.start, name.end)
  const bound = verbsOfNames.find(([one]) => one.test(word))
  if (bound) return bound[1].test(called)
  return word !== 'e' || /[éèÉÈ]/.test(written(verb).normalize('NFC'))
}

/** The run at a place, or a phrase; what a weak name names is no phrase. */
function valueAt(page: NamedText, name: Span, at: number): Span | undefined {
  const run = runAt(page, at)
  const isWeak = weakName.test(page.text.slice(name.start, name.end))
  return run && !isWeak ? withItsPhrase(page, run) : run
}

/** What stands right behind the name. */
function direct(page: NamedText, name: Span, rest: string): Span | undefined {
  const isClose = isCjk.test(page.text.slice(name.start, name.end))
  const gap = isClose ? /^[\s"'「『(:]{0,4}/.exec(rest)?.[0] : directGap.exec(rest)?.[0]
  const value = gap === undefined ? undefined : valueAt(page, name, name.end + gap.length)
  if (!value) return undefined
  if (looksDrawnIn(page, value)) return value
  if (!isDrawn(page.written(value))) return undefined
  if (page.text.charAt(name.start - 1) === '(' && page.text.charAt(value.end) === ')') return value
  const isUsed =
    isClose || usedBefore.test(page.text.slice(Math.max(0, name.start - 60), name.start))
  return isUsed && endsThere(page, value) ? value : undefined
}

/**
 * What ends a line that is a short label with a name and nothing else, as cells of a table become: by its
 * signs, and below the name of a user whatever it is.
 */
function labelled(page: NamedText, name: Span): Span | undefined {
  const { text } = page
  const from = Math.max(0, name.start - 40)
  const start = from + text.slice(from, name.start).lastIndexOf('\n') + 1
  if (!/^[^.,:!?\n]{0,40}$/.test(text.slice(start, name.start))) return undefined
  const line = text.slice(name.end, name.end + 200).split('\n', 1)[0] ?? ''
  const value = labelledValue.exec(line)?.[1]
  if (value === undefined) return undefined
  const span = spanAt(name.end + line.lastIndexOf(value), value)
  const run = /^\d/.test(value) && value.includes(' ') ? span : runAt(page, span.start)
  if (!run || run.end < span.end - 2) return undefined
  const isOfCapitals = !/\p{Ll}/u.test(page.written({ start, end: run.end }))
  if (isOfCapitals && /^\p{Lu}+$/u.test(page.written(run))) return undefined
  if (looksDrawnIn(page, run) || run === span) return run
  const above = text.slice(Math.max(0, start - 80), start)
  const isDashed = /^\p{Ll}{3,}-\p{Ll}{3,}$/u.test(page.written(run))
  return belowUser.test(above) && (isDashed || isDrawn(page.written(run))) ? run : undefined
}
