/**
 * Finds what the name of a code, password or key says to be one, whatever its form: behind signs, a verb or
 * a colon, on the lines below, or before the name. Where nothing announces it, it must look random.
 */
import {
  beginsSentence,
  endsThere,
  isBareLabel,
  isDate,
  isOtherLabel,
  isRandomAlone,
  isRandomInText,
  isRowOfCodes,
  isSecret,
  isSurelyRandom,
  isWordOfSentence,
  type NamedText,
  namesMax,
  runAt,
  runsOf,
  tellsWhom,
} from './random-text.ts'
import {
  isTouched,
  lastIn,
  lineEnd,
  lineStart,
  matchesOf,
  restAfter,
  type Span,
  spanAt,
  withItsGroups,
} from './text-lines.ts'
import * as words from './words.ts'
import { labelGap, numberLabel, usedFor } from './words.ts'

/** Link from name to value: a colon or a sign, a verb, a line of its own below, or only a place beside the name. */
type Joint = 'bound' | 'said' | 'below' | 'beside'
type Reader = (page: NamedText, name: Span, rest: string) => Span[] | undefined

/** Maximum number of values in a list. */
const valuesMax = 40
const signs = /^\p{L}{0,14}(?: ?\([^()\n]{1,30}\))?([^\p{L}\p{N}\n]{1,8})(?=\S)/u
const binding = /[:=#→>|]|\.{2}/

/** Returns the secrets of a text, unordered and possibly overlapping. */
export function namedValues(page: NamedText): Span[] {
  const keys = runsOf(page, words.knownKey).map((one) => runAt(page, one.start) ?? one)
  const blocks = matchesOf(words.knownBlock, page.text).map(
    ({ 0: whole, 1: key, 2: shared, index }) => {
      const secret = (key ?? shared ?? '').trimEnd()
      return spanAt(index + whole.lastIndexOf(secret), secret)
    },
  )
  const isUsed = page.isAbout || page.isNamed
  const used = isUsed ? randomRuns(page, words.usedFor) : []
  const named = page.names.length > namesMax ? randomRuns(page, /\S{4,}/g) : namedBy(page)
  return [...keys, ...blocks, ...used, ...named].filter((one) => !isTouched(page.links, one))
}

function randomRuns(page: NamedText, pattern: RegExp): Span[] {
  return runsOf(page, pattern).filter((one) => isRandomInText(page.written(one)))
}

/** Finds the values of all names. A name within a secret that was found counts as part of the secret. */
function namedBy(page: NamedText): Span[] {
  const found: Span[] = []
  let end = 0
  for (const name of page.names) {
    if (name.start < end) continue
    const called = page.text.slice(name.start, name.end)
    const values = valuesOf(page, name).filter(
      (one) => !words.isIssueKey(called, page.written(one)),
    )
    end = Math.max(end, ...values.map((one) => one.end))
    found.push(...values)
  }
  return found
}

function valuesOf(page: NamedText, name: Span): Span[] {
  const rest = restAfter(page.text, name)
  const readers: Reader[] = [behindSigns, behindVerb, behindColon, onNextLines]
  let behind: Span[] | undefined
  for (const read of readers) behind ??= read(page, name, rest)
  return [...(behind ?? []), ...valueBefore(page, name), ...farOnLine(page, name)]
}

function behindSigns(page: NamedText, name: Span, rest: string): Span[] | undefined {
  const [whole = '', joint = ''] = signs.exec(rest) ?? []
  if (whole === '') return undefined
  const at = name.end + whole.length - (/["“«„([{<]$/.test(joint) ? 1 : 0)
  return withNext(page, name, valueAt(page, at), binding.test(joint) ? 'bound' : 'beside')
}

function behindVerb(page: NamedText, name: Span, rest: string): Span[] | undefined {
  const sentence = /^(?:[^.!?]|[.!?](?=\S)){0,160}/.exec(rest)?.[0] ?? ''
  for (const { 0: verb, index } of [...sentence.matchAll(words.saying)].slice(0, 4)) {
    const at = name.end + index + verb.length
    if (!isVerb(page, name, { start: at - verb.length, end: at })) continue
    const gap = /^[\s:]{0,8}(?:\p{L}{1,16} (?=\S{0,12}\d))?/u.exec(page.text.slice(at, at + 40))
    const found = withNext(page, name, valueAt(page, at + (gap?.[0].length ?? 0)), 'said')
    if (found) return found
  }
  return undefined
}

function behindColon(page: NamedText, name: Span, rest: string): Span[] | undefined {
  const announced = words.announcement.exec(rest)?.[0]
  if (announced === undefined || tellsWhom.test(announced)) return undefined
  const at = name.end + announced.length
  const label = { start: name.end, end: at - 1 }
  const other = lastIn(page.others, label)
  if (other && words.labelGap.test(page.text.slice(other.end, label.end))) return undefined
  if (/^\s{0,8}\n/.test(page.text.slice(at, at + 12))) return linesBelow(page, name, at, 'bound')
  const value = valueAt(page, at + (/^[^\S\n]{0,8}/.exec(page.text.slice(at))?.[0].length ?? 0))
  const isTime = words.tellsTime.test(announced) && value && isOfDigits(page, value)
  const isFar = announced.trim().split(/\s+/).length > 4
  return isTime ? undefined : withNext(page, name, value, isFar ? 'said' : 'bound')
}

function onNextLines(page: NamedText, name: Span, rest: string): Span[] | undefined {
  const end = rest.indexOf('\n')
  return end === -1 ? undefined : linesBelow(page, name, name.end + end, 'below')
}

const isOfDigits = (page: NamedText, value: Span) => /^[\d.:/-]+[.,]?$/.test(page.written(value))

/** Returns the values of the next lines, one each, and of the first line also one that a sentence follows. */
function linesBelow(page: NamedText, name: Span, from: number, joint: Joint): Span[] | undefined {
  const found: Span[] = []
  for (let at = from; found.length < valuesMax; ) {
    const gap =
      /^[^\S\n]{0,20}(?:\n[^\S\n]{0,20}){1,4}["'«“(*_>`•-]{0,4}[ \t]?(?:\d{1,2}[.)][ \t]{1,3})?/.exec(
        page.text.slice(at, at + 120),
      )?.[0]
    const value = gap === undefined ? undefined : valueAt(page, at + gap.length)
    if (!value || !fits(page, name, value, found.length > 0 ? 'below' : joint)) break
    const rest = page.text.slice(value.end, value.end + 8)
    const isAlone = /^[^\p{L}\p{N}\n]{0,6}(?:\n|$)/u.test(rest)
    const isFirst = found.length === 0 && /^[.,;，。；]/.test(rest)
    if (!isAlone && !(isFirst && isRandomInText(page.written(value)))) break
    found.push(value)
    at = value.end + (/^[^\n]{0,6}/.exec(rest)?.[0].length ?? 0)
  }
  return found.length > 0 ? found : undefined
}

function valueAt(page: NamedText, at: number): Span | undefined {
  return withItsGroups(page.text, runAt(page, at))
}

/** Returns a value that fits its name with those that follow it in a list, as long as they look random. */
function withNext(page: NamedText, name: Span, value: Span | undefined, joint: Joint) {
  if (!value || !fits(page, name, value, joint)) return undefined
  const phrase = joint === 'beside' ? undefined : phraseAt(page, name, value)
  if (phrase) return [phrase]
  const found = [value]
  for (let at = value.end; found.length < valuesMax; ) {
    const gap = /^(?: ?[,;|/]| and| or|)[ \t]{1,3}(?:and |or )?/.exec(page.text.slice(at, at + 12))
    const next = gap ? runAt(page, at + gap[0].length) : undefined
    if (!next || !isRandomInText(page.written(next))) break
    if (gap?.[0].trim() === '' && next.end - next.start !== value.end - value.start) break
    found.push(next)
    at = next.end
  }
  return found
}

/** Returns the words to the end of the line if they are a phrase: those of a passphrase, or up to four without one of a sentence. */
function phraseAt(page: NamedText, name: Span, value: Span): Span | undefined {
  const called = page.text.slice(name.start, name.end)
  const line = page.text
    .slice(value.start, lineEnd(page.text, value.start))
    .replace(/[.!]?\s{0,8}$/, '')
  const parts = line.split(/\s+/)
  const isOfWords = /(?:phrase|words)$/.test(called)
  if (parts.length < 2 || parts.length > (isOfWords ? 24 : 4)) return undefined
  if (!isOfWords && (called.search(words.passwordPattern) === -1 || parts.some(isWordOfSentence))) {
    return undefined
  }
  return /[:,;(]/.test(line) ? undefined : spanAt(value.start, line)
}

/** Returns true if a value looks as secret as its name and the way it is set require. */
function fits(page: NamedText, name: Span, value: Span, joint: Joint): boolean {
  const [called, written] = [page.text.slice(name.start, name.end), page.written(value)]
  if (isRandomInText(written)) return true
  const isNumber = /^\d{4,}/.test(written.replaceAll(/[ -]/g, ''))
  const isOfText = isDate(written) || /^(?:19|20)\d\d$/.test(written)
  if (joint !== 'beside' && isNumber && !isOfText) return true
  if (words.weakName.test(called)) {
    return /^to[kc]|^ток/.test(called) && joint === 'bound' && isRandomAlone(written)
  }
  if (joint === 'beside') {
    const before = page.text.slice(Math.max(0, name.start - 60), name.start)
    return words.usedBefore.test(before) && isRandomAlone(written) && endsThere(page, value)
  }
  if (joint === 'below') return isRandomAlone(written) && beginsSentence(page.text, value)
  const isShort = /^\d{1,3}$/.test(written) && !/^\s*(?:\n|$)/.test(page.text.slice(value.end))
  if (!isSecret(written) || isWordOfSentence(written) || isShort || isOfText) return false
  return joint === 'bound' || (endsThere(page, value) && !isVerbal(page, value))
}

/** Returns true for a small word behind a verb that often tells about a password, as in will be changed. */
function isVerbal(page: NamedText, value: Span): boolean {
  if (!/^\p{Ll}+[.!]?$/u.test(page.written(value))) return false
  const before = page.text.slice(Math.max(0, value.start - 12), value.start)
  const verb = /(\p{L}{1,12})[ :]{1,3}$/u.exec(before)?.[1] ?? ''
  return (
    /^(?:be|sera|sara|wordt|bedzie|будет)$/.test(verb) ||
    words.verbsOfNames.some(([one]) => one.test(verb) && verb !== 'to')
  )
}

/** Returns true if a verb fits the language of its name: Polish to, Swedish är. An e needs its accent. */
function isVerb({ text, written }: NamedText, name: Span, verb: Span): boolean {
  const word = text.slice(verb.start, verb.end).trim()
  const bound = words.verbsOfNames.find(([one]) => one.test(word))
  if (bound) return bound[1].test(text.slice(name.start, name.end))
  return word !== 'e' || /[éèÉÈ]/.test(written(verb).normalize('NFC'))
}

/** A colon or a verb anywhere after a name on its line. */
const sayingSomewhere =
  /(?:[:=]|(?<=\s)(?:is|are|ist|lautet|est|sont|es|son|sao|zijn|luidt|to|jest|brzmi|это|ar|er|on|je|este))[ \t]{1,4}(?=\S)/gu

/** Returns what looks random farther on the line, behind a purpose that a member of a site may have named. */
function farOnLine(page: NamedText, name: Span): Span[] {
  const line = page.text.slice(name.end, name.end + 1_000).split('\n', 1)[0] ?? ''
  const isPassword = page.text.slice(name.start, name.end).search(words.passwordPattern) !== -1
  return [...line.matchAll(sayingSomewhere)].flatMap(({ 0: said, index }) => {
    const value = runAt(page, name.end + index + said.length)
    const written = value ? page.written(value) : ''
    const isNumber = isPassword && /^\d{6,12}[.]?$/.test(written)
    const isLong = written.length > 7 && /\p{L}/u.test(written) && isRandomInText(written)
    return value && (isNumber || isLong) ? [value] : []
  })
}

/** A run that a sentence then names, or that is right before its name. */
const joiner =
  /(?:^|[\s"'(【「*])([!-~]{4,64}?)["'」】)*]{0,3}( (?:is|ist|est|es|e|jest|to|это|as|als|comme|como|come|jako|как)(?: [^.!?\n]{0,60})? | ?[是は为為][^.!?\n]{0,40}|,? [-–—] [^.!?\n]{0,60}| ?\(|, [^.!?\n]{0,30}| )$/u

function valueBefore(page: NamedText, name: Span): Span[] {
  const from = Math.max(lineStart(page.text, name.start), name.start - 130)
  const found = joiner.exec(page.text.slice(from, name.start))
  const [whole = '', value = '', joint = ''] = found ?? []
  const span = spanAt(from + (found?.index ?? 0) + whole.indexOf(value), value)
  const other = lastIn(page.others, { start: from, end: span.start })
  // A value that the text calls a code is one, also after a member's name that sounds like another number.
  const isSaidToBe = /^(?: (?:is|ist|est|es|e|jest|to|это) | ?[是は为為])/u.test(joint)
  const isOther =
    !isSaidToBe && other && words.labelGap.test(page.text.slice(other.end, span.start))
  const isPolish = /^(?:kod|hasl)/.test(page.text.slice(name.start, name.end))
  if (joint.startsWith(' to ') && !isPolish) return []
  if (value === '' || isOther || isTouched(page.names, span)) return []
  const isFirst = span.start === from || beginsSentence(page.text, span)
  const isSaid = joint.trim() !== '' && isFirst && isRandomAlone(page.written(span))
  return isSaid || isRandomInText(page.written(span)) ? [span] : []
}

const rowOnLine = /^[ \t]{0,8}([^\s:]{1,64}(?:[ \t]{1,4}[^\s:]{1,64}){1,23})[ \t]{0,8}$/gmu
const lastBehindColon = /: {1,3}(\S{8,64})[ \t]{0,4}$/gmu
const aloneOnLine =
  /^[ \t>*_|[(]{0,8}([^\s*_|[(][^\s*_|]{2,62}[^\s*_.,;!?|\])])[ \t*_|\])]{0,8}$/gmu
const cellsOnLine = /^[ \t]{0,8}(\S(?: \S){3,63})[ \t]{0,8}$/gmu

/** Returns rows of codes, and random-looking ends of lines after a colon, in a mail about codes. */
export function standingOut(page: NamedText): Span[] {
  if (!page.isAbout) return []
  const rows = runsOf(page, rowOnLine).filter(
    (row) => isRowOfCodes(page, row) && !isBelowOther(page, row),
  )
  const ends = runsOf(page, lastBehindColon).filter(
    (span) =>
      isSurelyRandom(page.written(span)) &&
      !isOtherLabel(page.text, span.start, [page.names, page.actions]),
  )
  return [...rows, ...ends].filter((span) => !isTouched(page.links, span))
}

/**
 * Returns the possible secrets of a mail about codes in which none was found: runs alone on a line, or
 * to be used or entered, except words with a capital.
 */
export function unnamedValues(page: NamedText): Span[] {
  if (!page.isAbout) return []
  const lines = runsOf(page, aloneOnLine).filter(
    (span) => beginsSentence(page.text, span) && !isBelowOther(page, span),
  )
  const cells = runsOf(page, cellsOnLine).filter((span) => beginsSentence(page.text, span))
  const words = [...runsOf(page, usedFor), ...lines].filter((span) =>
    isRandomAlone(page.written(span)),
  )
  return [...words, ...cells].filter(
    (span) => !isTouched(page.links, span) && !isTouched(page.names, span),
  )
}

/** Returns true if the line above ends in the name of another number, or is a label of no secret. */
function isBelowOther(
  { text, others, names, actions, isNamed }: NamedText,
  { start }: Span,
): boolean {
  const from = Math.max(0, start - 60)
  const above = text.slice(from, start).trimEnd()
  if (!isNamed && isBareLabel(above.slice(above.lastIndexOf('\n') + 1))) return true
  const other = lastIn(others, { start: from, end: start })
  if (other !== undefined && labelGap.test(text.slice(other.end, start))) return true
  return numberLabel.test(text.slice(from, start)) || isOtherLabel(text, start, [names, actions])
}
