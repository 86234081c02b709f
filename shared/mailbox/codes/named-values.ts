/**
 * Finds secrets without a form of their own: whatever follows the name of a code, password, token or
 * key up to the next space, of any characters, length and case. Unless a colon, a verb or a line of its
 * own announces it, it must look random.
 */

import { labelGap } from './code-words.ts'
import {
  isDate,
  isNetworkAddress,
  isRandomAlone,
  isRandomInText,
  isSecret,
  isWordOfSentence,
  withItsPhrase,
} from './drawn-text.ts'
import { verbsOfNames } from './further-words.ts'
import { tellsWhom } from './labels.ts'
import { belowUser, cellAfter, restAfter } from './name-lines.ts'
import { isCjk, valuesBefore } from './said-before.ts'
import {
  announcement,
  directGap,
  isIssueKey,
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
import { withItsGroups } from './text-lines.ts'
import type { NamedText } from './value-lines.ts'
import {
  belowColons,
  endsThere,
  linesFrom,
  namesMax,
  nextInList,
  randomValuesOnLine,
  restOfLine,
  runAt,
  runsOf,
} from './value-lines.ts'

/** Maximum length of a heading: a short line without punctuation, above the value that it names. */
const headingMax = 30
const headingBefore = /(?:^|\n)[^\n.,:;!?]{0,29}$/u
/** An article or an adverb between a verb and a value with digits. */
const afterVerb = /^[\s:]{0,8}(?:\p{L}{1,16} (?=\S{0,12}\d))?/u
/** Returns the secrets of a text, unordered and possibly overlapping. */
export function namedValues(page: NamedText): Span[] {
  const used =
    page.isAbout || page.isNamed
      ? runsOf(page, usedFor).filter((span) => isRandomAt(page, span))
      : []
  const named = page.names.length > namesMax ? randomRuns(page) : namedBy(page)
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

/** Finds the values of all names. A name within a secret that was found counts as part of the secret. */
function namedBy(page: NamedText): Span[] {
  const found: Span[] = []
  let end = 0
  for (const name of page.names) {
    if (name.start < end) continue
    const behind = valuesAfter(page, name).filter(
      (value) => !isIssueKey(page.text.slice(name.start, name.end), page.written(value)),
    )
    const values = [
      ...behind,
      ...behind.flatMap((one) => nextInList(page, one)),
      ...valuesBefore(page, name),
    ]
    end = Math.max(end, ...values.map((value) => value.end))
    found.push(...values)
  }
  return found
}

function randomRuns(page: NamedText): Span[] {
  return runsOf(page, /\S{4,}/g).filter((span) => isRandomAt(page, span))
}

function isRandomAt({ written }: NamedText, span: Span): boolean {
  return isRandomInText(written(span))
}

function valuesAfter(page: NamedText, name: Span): Span[] {
  const rest = restAfter(page.text, name)
  const announced = announcement.exec(rest)?.[0]
  const verbal = valueAfterVerb(page, name, announced ?? rest)
  if (verbal) return [verbal]
  const held = announced === undefined ? undefined : valueAcross(page, name, rest, announced)
  if (held) return [held]
  if (announced !== undefined && !isOther(page, name, announced.slice(0, -1))) {
    const found = announcedAt(page, name, announced)
    if (found.length > 0) return found
  }
  const next = valueRightAfter(page, name, rest) ?? valueOfLabel(page, name)
  if (next) return [next]
  const isPassword = page.text.slice(name.start, name.end).search(passwordPattern) !== -1
  const far = randomValuesOnLine(page, name, isPassword)
  if (far.length > 0) return far
  const end = rest.indexOf('\n')
  if (end === -1) return []
  const isHeading =
    end < headingMax &&
    headingBefore.test(page.text.slice(Math.max(0, name.start - headingMax), name.start))
  return linesFrom(page, name.end + end, isHeading ? 'heading' : 'unannounced')
}

/** Returns the run right after a name that itself contains the sign which seemed to announce a value. */
function valueAcross(page: NamedText, name: Span, rest: string, announced: string) {
  const value = valueRightAfter(page, name, rest)
  const sign = name.end + announced.length
  if (!value || value.start >= sign - 1 || value.end <= sign) return undefined
  const before = page.written({ start: value.start, end: sign - 1 })
  return /^(?:[a-z\d_.-]*|[A-Z\d_.-]*)$/.test(before) ? undefined : value
}

/** Returns true if the words up to the colon end in the name of another number. */
function isOther({ text, others }: NamedText, name: Span, words: string): boolean {
  const other = lastIn(others, { start: name.end, end: name.end + words.length })
  return other !== undefined && labelGap.test(text.slice(other.end, name.end + words.length))
}

/** Returns true if a value fits its name. Keys and tokens must look random; a token may be lower case. */
function fitsName({ text, written }: NamedText, name: Span, value: Span): boolean {
  const word = text.slice(name.start, name.end)
  if (!weakName.test(word)) return isSecret(written(value))
  return /^to[kc]|^ток/.test(word) ? isRandomAlone(written(value)) : isRandomInText(written(value))
}

function announcedAt(page: NamedText, name: Span, announced: string): Span[] {
  const at = name.end + announced.length
  const isOfWords = phraseName.test(page.text.slice(name.start, name.end))
  const line = restOfLine(page.text, at)
  if (line === undefined) {
    if (tellsWhom.test(announced)) return []
    const lines = linesFrom(page, at, isOfWords ? 'phrase' : 'announced')
    return lines.filter((value) => isOfWords || fitsName(page, name, value))
  }
  if (isOfWords) return [withItsPhrase(page, line)]
  const value = valueAt(page, name, line.start)
  if (!value || !fitsName(page, name, value) || tellsWhom.test(announced)) return []
  const written = page.written(value)
  if (/^\d{1,3}$/.test(written) || isWordOfSentence(written)) return []
  if (tellsTime.test(announced) && /^[\d.:/-]+[.,]?$/.test(written)) return []
  const hasManyWords = announced.trim().split(/\s+/).length > 4
  if (hasManyWords && (isDate(written) || isNetworkAddress(written))) return []
  const isLast = /^[.!]?$/.test(page.text.slice(value.end, line.end).trim())
  return hasManyWords && !isLast && !isRandomAlone(written) ? [] : [value]
}

/** Returns the value that a verb assigns to the name, on the same line or wrapped onto the next. */
function valueAfterVerb(page: NamedText, name: Span, rest: string): Span | undefined {
  const sentence = /^(?:[^.!?]|[.!?](?=\S)){0,160}/.exec(rest)?.[0] ?? ''
  for (const verb of [...sentence.matchAll(saying)].slice(0, 4)) {
    const at = name.end + verb.index + verb[0].length
    if (!isVerb(page, name, { start: at - verb[0].length, end: at })) continue
    const gap = afterVerb.exec(page.text.slice(at, at + 40))?.[0].length ?? 0
    const value = valueAt(page, name, at + gap)
    if (!value) continue
    const isNumber = /^(?:\d{1,3}$|\d{1,4}[年月日년월일])/u.test(
      page.text.slice(value.start, value.end + 1),
    )
    const written = page.written(value)
    const isWord = isOfFurther(verb[0]) && /^\p{Ll}+[.!]?$/u.test(written)
    const isOfText = isNumber || isWord || isDate(written)
    const isWhole = fitsName(page, name, value) && endsThere(page, value) && !isOfText
    if (isWhole || isRandomAt(page, value)) return value
  }
  return undefined
}

/** Returns true for verbs that are often followed by a word about the password, such as changed. */
function isOfFurther(verb: string): boolean {
  return (
    /^(?:will be|sera|sara|wordt|bedzie|будет)$/.test(verb.trim()) ||
    verbsOfNames.some(([one]) => one.test(verb.trim()) && verb.trim() !== 'to')
  )
}

/** Returns true if a verb fits the language of its name: Polish to, Swedish är. An e needs its accent. */
function isVerb({ text, written }: NamedText, name: Span, verb: Span): boolean {
  const word = text.slice(verb.start, verb.end).trim()
  const called = text.slice(name.start, name.end)
  const bound = verbsOfNames.find(([one]) => one.test(word))
  if (bound) return bound[1].test(called)
  return word !== 'e' || /[éèÉÈ]/.test(written(verb).normalize('NFC'))
}

/** Returns the run at a place, or a whole phrase. A weak name does not name a phrase. */
function valueAt(page: NamedText, name: Span, at: number): Span | undefined {
  const run = withItsGroups(page.text, runAt(page, at))
  const isWeak = weakName.test(page.text.slice(name.start, name.end))
  return run && !isWeak ? withItsPhrase(page, run) : run
}

/** Returns the value right after the name. */
function valueRightAfter(page: NamedText, name: Span, rest: string): Span | undefined {
  const isClose = isCjk.test(page.text.slice(name.start, name.end))
  const gap = isClose ? /^[\s"'「『(:]{0,4}/.exec(rest)?.[0] : directGap.exec(rest)?.[0]
  const value = gap === undefined ? undefined : valueAt(page, name, name.end + gap.length)
  if (!value) return undefined
  if (isRandomAt(page, value)) return value
  if (!isRandomAlone(page.written(value))) return undefined
  if (page.text.charAt(name.start - 1) === '(' && page.text.charAt(value.end) === ')') return value
  const isUsed =
    isClose || usedBefore.test(page.text.slice(Math.max(0, name.start - 60), name.start))
  return isUsed && endsThere(page, value) ? value : undefined
}

/**
 * Returns what ends a line of only a short label with a name, as table cells become. It must look
 * random, except right below the name of a user.
 */
function valueOfLabel(page: NamedText, name: Span): Span | undefined {
  const cell = cellAfter(page.text, name)
  if (!cell || isTouched(page.others, { start: name.end, end: cell.start })) return undefined
  const isGroups = /^\d+ /.test(page.text.slice(cell.start, cell.end))
  const run = isGroups ? { start: cell.start, end: cell.end } : runAt(page, cell.start)
  if (!run || run.end < cell.end - 2) return undefined
  const written = page.written(run)
  const isOfCapitals = !/\p{Ll}/u.test(page.written({ start: cell.lineStart, end: run.end }))
  if (isOfCapitals && /^\p{Lu}+$/u.test(written)) return undefined
  if (isGroups || isRandomInText(written)) return run
  const above = page.text.slice(Math.max(0, cell.lineStart - 80), cell.lineStart)
  const isDashed = /^\p{Ll}{3,}-\p{Ll}{3,}$/u.test(written)
  return belowUser.test(above) && (isDashed || isRandomAlone(written)) ? run : undefined
}
