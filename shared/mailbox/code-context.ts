/**
 * Whether a candidate is a one-time code, by the words around it: the nearest name decides, a number
 * alone on its line belongs to what the lines around it speak of.
 */
import type { Candidate } from './code-candidates.ts'
import {
  actionPattern,
  codeGap,
  codeNamePattern,
  labelGap,
  numberLabel,
  otherPattern,
} from './code-words.ts'
import { secretNamePattern } from './secret-words.ts'
import type { Span } from './spans.ts'
import { firstIn, isTouched, isWithin, lastIn, spansOf } from './spans.ts'
import { firstSentence, isWrapped, lineEnd, lineStart } from './text-lines.ts'
import { isBareLabel, isOtherLabel } from './value-lines.ts'

/** What the subject speaks of: codes or what is done with them, the name of a secret, what is done. */
export type SubjectWords = {
  isSubjectAbout: boolean
  isSubjectNamed: boolean
  isSubjectActive: boolean
}

/** What is known of a whole part before its candidates are judged. */
export type Surroundings = {
  text: string
  names: readonly Span[]
  /** The same with those within the names of other numbers, as in promo code. */
  allNames: readonly Span[]
  /** Names of passwords and keys. */
  secretNames: readonly Span[]
  actions: readonly Span[]
  others: readonly Span[]
  /** The subject, or the mail as a whole, speaks of codes or of signing in. */
  isAboutCodes: boolean
  /** The subject or the part names a code, a password or a key, not only what is done with one. */
  isNamed: boolean
  /**
   * Names of other numbers speak for nothing: in a mail that names a code and seems to have none, one that
   * hides it may be what a member called something.
   */
  isUnlabelled?: boolean
}

/** How far a name reaches along its line. */
const reach = 90
/**
 * How far it reaches to what its line says to be the code. A workspace or a device stands between them and
 * is called what its member likes, which may be long, or sound like the name of another number.
 */
const reachOfNames = 1_000
const isVerbBehind =
  /^["'»”)]{0,2} ?(?:is|ist|est|es|e|jest|to|это|-|は|是|为|為) ?[^.,;!?\n]{0,60}/u
const linesNear = 3
/** A list of codes is no longer than this. */
const linesPassedMax = 40

/** Finds the words of a part; those within links speak of the links alone. */
export function surroundingsOf(
  text: string,
  links: readonly Span[],
  { isSubjectAbout, isSubjectNamed }: SubjectWords,
): Surroundings {
  const keys = spansOf(secretNamePattern, text)
  // A word within the name of a key, as in client secret, names nothing by itself.
  const others = spansOf(otherPattern, text).filter(
    (span) => !isTouched(links, span) && !isWithin(keys, span),
  )
  const isApart = (span: Span) => !isTouched(others, span) && !isTouched(links, span)
  const allNames = spansOf(codeNamePattern, text).filter((span) => !isTouched(links, span))
  const names = allNames.filter(isApart)
  const secretNames = keys.filter(isApart)
  return {
    text,
    others,
    names,
    allNames,
    secretNames,
    actions: spansOf(actionPattern, text).filter(isApart),
    isAboutCodes: isSubjectAbout || names.length > 0,
    isNamed: isSubjectNamed || names.length > 0 || secretNames.length > 0,
  }
}

/** Judges one candidate; `rivals` are the others, each of which takes the words next to it. */
export function isCode(
  around: Surroundings,
  one: Candidate,
  rivals: readonly Candidate[],
): boolean {
  const line = lineAt(around.text, one, rivals)
  const left = { start: line.start, end: one.start }
  const right = { start: one.end, end: line.end }
  const isOther = lastIn(around.others, left)
  const name = lastIn(around.names, left) ?? farName(around, one)
  const isNamed = isNamedAcross(around, name, one) || isSaidToBe(around, one)
  if (isOther && isLabel(around, isOther, one) && !isNamed && !isLineOfLabel(around, one))
    return false
  if (name) return isFit(one, around.text, name)
  if (isLineOfLabel(around, one)) return isNamedByLines(around, one, rivals)
  if (isOtherLabel(around.text, one.start, naming(around))) return false
  if (numberLabel.test(around.text.slice(left.start, left.end))) return false
  const after = firstSentence(around.text, right)
  const next = firstIn(around.others, after)
  const named = firstIn(around.names, after)
  if (named && !(next && next.start < named.start)) return isFit(one, around.text)
  if (isAlone(around.text, one)) return isNamedByLines(around, one, rivals)
  if (isOther || next || one.form === 'letters' || one.form === 'mixed') return false
  return isActedOn(around, one, left, after)
}

/** The name on the line, however far before what a colon or a verb announces. */
function farName({ text, names }: Surroundings, one: Span): Span | undefined {
  if (!codeGap.test(text.slice(Math.max(0, one.start - reach), one.start))) return undefined
  const start = Math.max(lineStart(text, one.start, reachOfNames), one.start - reachOfNames)
  return lastIn(names, { start, end: one.start })
}

/** Whether what a name is for may stand between it and a candidate, which then is no other number. */
function isNamedAcross({ text }: Surroundings, name: Span | undefined, one: Span): boolean {
  if (!name) return false
  const gap = text.slice(Math.max(name.end, one.start - reach), one.start)
  return codeGap.test(gap) || !/[,;]/.test(gap)
}

/** Whether a colon stands before a candidate that ends its line, where labels speak for nothing. */
function isLineOfLabel(around: Surroundings, { start, end }: Span): boolean {
  const { text, isUnlabelled, names, actions } = around
  if (isUnlabelled !== true || names.length === 0 || actions.length === 0) return false
  const line = { start: lineStart(text, start), end: start }
  const isLabel = /:\s{0,3}$/.test(text.slice(Math.max(line.start, start - 8), start))
  const isLast = /^[.!]?\s{0,8}(?:\n|$)/.test(text.slice(end, end + 12))
  return isLabel && isLast && !lastIn(names, line)
}

/** Whether a verb right behind says that this is the code, whatever stands before. */
function isSaidToBe({ text, names }: Surroundings, { end }: Span): boolean {
  const said = isVerbBehind.exec(text.slice(end, end + reach))
  return said !== null && firstIn(names, { start: end, end: end + said[0].length }) !== undefined
}

const naming = ({ names, secretNames, actions }: Surroundings) => [names, secretNames, actions]

/** Whether something is done with it in its sentence; where nothing else speaks of codes, right there. */
function isActedOn(around: Surroundings, one: Candidate, left: Span, right: Span): boolean {
  const [last, first] = [lastIn(around.actions, left), firstIn(around.actions, right)]
  const length = one.end - one.start
  if (isYear(around.text, one) || length < 5) return false
  if (around.isAboutCodes) return last !== undefined || first !== undefined
  const distance = Math.min(
    one.start - (last?.end ?? -Infinity),
    (first?.start ?? Infinity) - one.end,
  )
  return length === 6 && distance <= 30
}

/** The line, as far as it belongs to the candidate: between its neighbours, within reach. */
function lineAt(text: string, one: Span, rivals: readonly Span[]): Span {
  const start = lineStart(text, one.start)
  const above = start === 0 ? 0 : lineStart(text, start - 1)
  const reached = { start: Math.max(0, one.start - reach), end: one.end + reach }
  const previous = lastIn(rivals, { start: reached.start, end: one.start })
  const next = firstIn(rivals, { start: one.end, end: reached.end })
  return {
    start: Math.max(
      isWrapped(text.slice(above, start)) ? above : start,
      previous?.end ?? reached.start,
    ),
    end: Math.min(lineEnd(text, one.end), next?.start ?? reached.end),
  }
}

/** Whether a name of other numbers stands right before this one. */
function isLabel({ text }: Surroundings, other: Span, one: Span): boolean {
  return labelGap.test(text.slice(other.end, one.start))
}

/** Whether its form goes with how closely it is named: the less like a code, the closer. */
function isFit(one: Candidate, text: string, name?: Span): boolean {
  const gap = name ? text.slice(Math.max(name.end, one.start - reach), one.start) : undefined
  if (gap === undefined) return one.form !== 'letters' && !isYear(text, one)
  if (one.form === 'letters') return /^[^.!?]{0,12}:\s*$|^[:\s]*$/.test(gap)
  if (codeGap.test(gap)) return !isYear(text, one) || gap.length <= 20
  const isUsual = one.form === 'grouped' || one.end - one.start === 6
  return isUsual && !isYear(text, one) && gap.length <= 60
}

function isYear(text: string, one: Span): boolean {
  return /^(?:19|20)\d\d$/.test(text.slice(one.start, one.end))
}

function isAlone(text: string, one: Span): boolean {
  const beside =
    text.slice(lineStart(text, one.start), one.start) + text.slice(one.end, lineEnd(text, one.end))
  return beside.length <= 12 && !/[\p{L}\p{N}]/u.test(beside)
}

function isNamedByLines(around: Surroundings, one: Candidate, rivals: readonly Span[]): boolean {
  const above = linesAround(around.text, one, rivals, 'above')
  const below = linesAround(around.text, one, rivals, 'below')
  const [nearest] = above
  if (nearest) {
    const label = lastIn(around.others, nearest)
    const isNamed = lastIn(around.names, nearest) ?? lastIn(around.actions, nearest)
    if (label && !isNamed && !around.isUnlabelled) return false
    const words = around.text.slice(nearest.start, nearest.end)
    if (!isNamed && !around.isNamed && isBareLabel(words)) return false
    if (
      !isNamed &&
      !around.isUnlabelled &&
      (numberLabel.test(words) || isOtherLabel(around.text, one.start, naming(around)))
    )
      return false
  }
  if (above.some((line) => lastIn(around.names, line))) return true
  if (one.form !== 'letters' && nearest && lastIn(around.secretNames, nearest)) return true
  const isLetters = one.form === 'letters' && !around.text.slice(one.start, one.end).includes('-')
  const isRest = !/(?:^|[.!?:。：]\s{0,4}|\n[^\S\n]{0,8})\n?[^\S\n]{0,8}$/u.test(
    around.text.slice(Math.max(0, one.start - 24), one.start),
  )
  if (isLetters || (isYear(around.text, one) && (isRest || rivals.length > 1))) return false
  const isSpokenOf = [...above.slice(0, 2), ...below.slice(0, 2)].some(
    (line) => lastIn(around.actions, line) ?? lastIn(around.names, line),
  )
  const isAnnounced = nearest && /:\s*$/.test(around.text.slice(nearest.start, nearest.end))
  return isSpokenOf || (around.isAboutCodes && (one.form !== 'mixed' || isAnnounced === true))
}

/** The lines next to a candidate, nearest first; lines of nothing but another candidate are passed. */
function linesAround(text: string, one: Span, rivals: readonly Span[], side: 'above' | 'below') {
  const lines: Span[] = []
  let line = { start: lineStart(text, one.start), end: lineEnd(text, one.end) }
  for (let passed = 0; lines.length < linesNear && passed < linesPassedMax; passed += 1) {
    if (side === 'above' ? line.start === 0 : line.end >= text.length) break
    line =
      side === 'above'
        ? { start: lineStart(text, line.start - 1), end: line.start - 1 }
        : { start: line.end + 1, end: lineEnd(text, line.end + 1) }
    const rival = firstIn(rivals, line)
    const isRival = rival !== undefined && isAlone(text, rival)
    if (!isRival && /[\p{L}\p{N}]/u.test(text.slice(line.start, line.end))) lines.push(line)
  }
  return lines
}
