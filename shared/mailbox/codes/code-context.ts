/**
 * Decides whether a candidate is a one-time code by the words around it. The nearest name decides; a
 * number alone on its line belongs to the subject of the lines around it.
 */
import type { Candidate } from './code-candidates.ts'
import { isBareLabel, isOtherLabel, isYear } from './random-text.ts'
import {
  firstIn,
  firstSentence,
  isAlone,
  isTouched,
  isWithin,
  isWrapped,
  lastIn,
  lineEnd,
  lineStart,
  linesAround,
  type Span,
  spansOf,
} from './text-lines.ts'
import {
  actionPattern,
  codeGap,
  codeNamePattern,
  labelGap,
  nonSecretNamePattern,
  numberLabel,
  secretNamePattern,
} from './words.ts'

/** The topics of the subject: codes or actions with them, the name of a secret, and actions. */
export type SubjectWords = {
  isSubjectAbout: boolean
  isSubjectNamed: boolean
  isSubjectActive: boolean
}

/** The words of a whole part, found before its candidates are judged. */
export type Surroundings = {
  text: string
  names: readonly Span[]
  /** Names of passwords and keys. */
  secretNames: readonly Span[]
  actions: readonly Span[]
  others: readonly Span[]
  /** True if the subject is about codes or signing in, or the part names a code. */
  isAboutCodes: boolean
  /** True if the subject or the part names a code, a password or a key, and not only an action with one. */
  isNamed: boolean
}

/** Number of characters along a line that a name reaches. */
const reach = 90
/**
 * Number of characters that a name reaches to a value declared to be the code. The name of a workspace
 * or device may come between, which a member chose: long, or like the name of another number.
 */
const reachOfNames = 1_000
const isVerbBehind =
  /^["'»”)]{0,2} ?(?:is|ist|est|es|e|jest|to|это|-|は|是|为|為) ?[^.,;!?\n]{0,60}/u

/** Finds the words of a part. Words within links count only for the links. */
export function surroundingsOf(
  text: string,
  links: readonly Span[],
  { isSubjectAbout, isSubjectNamed }: SubjectWords,
): Surroundings {
  const keys = spansOf(secretNamePattern, text)
  // A word within the name of a key, as in client secret, is not a name of its own.
  const others = spansOf(nonSecretNamePattern, text).filter(
    (span) => !isTouched(links, span) && !isWithin(keys, span),
  )
  const isApart = (span: Span) => !isTouched(others, span) && !isTouched(links, span)
  const names = spansOf(codeNamePattern, text).filter(
    (span) => isApart(span) && !isCompound(text, others, span),
  )
  const secretNames = keys.filter(isApart)
  return {
    text,
    others,
    names,
    secretNames,
    actions: spansOf(actionPattern, text).filter(isApart),
    isAboutCodes: isSubjectAbout || names.length > 0,
    isNamed: isSubjectNamed || names.length > 0 || secretNames.length > 0,
  }
}

/** Returns true if a name and the name of another number are one label, as in cod client. */
function isCompound(text: string, others: readonly Span[], { end }: Span): boolean {
  const other =
    text.charAt(end) === ' ' ? firstIn(others, { start: end, end: end + 40 }) : undefined
  const rest = other?.start === end + 1 ? text.slice(other.end, other.end + 24) : undefined
  return rest !== undefined && /^\p{L}{0,4}[^\S\n]{0,3}(?::|\n|$|\S{0,4}\d)/u.test(rest)
}

/** Judges one candidate. `rivals` are all candidates, each of which takes the words next to it. */
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
  if (isOther && isLabel(around, isOther, one) && !isNamed) return false
  if (name) return isFit(one, around.text, name)
  if (isOtherLabel(around.text, one.start, naming(around))) return false
  if (numberLabel.test(around.text.slice(left.start, left.end))) return false
  const after = firstSentence(around.text, right)
  const next = firstIn(around.others, after)
  const named = firstIn(around.names, after)
  if (named && !(next && next.start < named.start))
    return isFit(one, around.text) || (one.form === 'digits' && isSaidToBe(around, one))
  if (isAlone(around.text, one)) return isNamedByLines(around, one, rivals)
  if (isOther || next || one.form === 'letters' || one.form === 'mixed') return false
  return isActedOn(around, one, left, after)
}

/** Returns a name farther back on the line, if a colon or a verb announces the candidate. */
function farName({ text, names }: Surroundings, one: Span): Span | undefined {
  if (!codeGap.test(text.slice(Math.max(0, one.start - reach), one.start))) return undefined
  const start = Math.max(lineStart(text, one.start, reachOfNames), one.start - reachOfNames)
  return lastIn(names, { start, end: one.start })
}

/** Returns true if the text between a name and a candidate says what the code is for. */
function isNamedAcross({ text }: Surroundings, name: Span | undefined, one: Span): boolean {
  if (!name) return false
  const gap = text.slice(Math.max(name.end, one.start - reach), one.start)
  return codeGap.test(gap) || !/[,;]/.test(gap)
}

/** Returns true if a verb right after the candidate says that it is the code, whatever precedes it. */
function isSaidToBe({ text, names }: Surroundings, { end }: Span): boolean {
  const said = isVerbBehind.exec(text.slice(end, end + reach))
  return said !== null && firstIn(names, { start: end, end: end + said[0].length }) !== undefined
}

const naming = ({ names, secretNames, actions }: Surroundings) => [names, secretNames, actions]

/** Returns true if the sentence has an action; it must be near if nothing else is about codes. */
function isActedOn(around: Surroundings, one: Candidate, left: Span, right: Span): boolean {
  const [last, first] = [lastIn(around.actions, left), firstIn(around.actions, right)]
  const length = one.end - one.start
  if (isYearAt(around.text, one) || length < 5) return false
  if (around.isAboutCodes) return last !== undefined || first !== undefined
  const distance = Math.min(
    one.start - (last?.end ?? -Infinity),
    (first?.start ?? Infinity) - one.end,
  )
  return length === 6 && distance <= 30
}

/** Returns the part of the line that belongs to the candidate: between its neighbours and within reach. */
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

/** Returns true if the name of another number is right before this one. */
function isLabel({ text }: Surroundings, other: Span, one: Span): boolean {
  return labelGap.test(text.slice(other.end, one.start))
}

/** Returns true if the form fits how closely it is named. Less typical forms must be closer to a name. */
function isFit(one: Candidate, text: string, name?: Span): boolean {
  const gap = name ? text.slice(Math.max(name.end, one.start - reach), one.start) : undefined
  if (gap === undefined) return one.form !== 'letters' && !isYearAt(text, one)
  if (one.form === 'letters') return /^[^.!?]{0,12}:\s*$|^[:\s]*$/.test(gap)
  if (codeGap.test(gap)) return !isYearAt(text, one) || gap.length <= 20
  const isUsual = one.form === 'grouped' || one.end - one.start === 6
  return isUsual && !isYearAt(text, one) && gap.length <= 60
}

function isYearAt(text: string, one: Span): boolean {
  return isYear(text.slice(one.start, one.end))
}

function isNamedByLines(around: Surroundings, one: Candidate, rivals: readonly Span[]): boolean {
  const above = linesAround(around.text, one, rivals, 'above')
  const below = linesAround(around.text, one, rivals, 'below')
  const [nearest] = above
  if (nearest) {
    const label = lastIn(around.others, nearest)
    const words = around.text.slice(nearest.start, nearest.end)
    // A confirmation number is one of a booking, unless the mail names a code.
    const isActive = around.isNamed || !numberLabel.test(words)
    const isNamed =
      lastIn(around.names, nearest) ?? (isActive ? lastIn(around.actions, nearest) : undefined)
    if (label && !isNamed) return false
    if (!isNamed && !around.isNamed && isBareLabel(words)) return false
    if (
      !isNamed &&
      (numberLabel.test(words) || isOtherLabel(around.text, one.start, naming(around)))
    )
      return false
  }
  if (above.some((line) => lastIn(around.names, line))) return true
  const isNumber = /^[\d -]+$/.test(around.text.slice(one.start, one.end))
  if (isNumber && above.some((line) => lastIn(around.secretNames, line))) return true
  const isLetters = one.form === 'letters' && !around.text.slice(one.start, one.end).includes('-')
  const isRest = !/(?:^|[.!?:。：]\s{0,4}|\n[^\S\n]{0,8})\n?[^\S\n]{0,8}$/u.test(
    around.text.slice(Math.max(0, one.start - 24), one.start),
  )
  if (isLetters || (isYearAt(around.text, one) && (isRest || rivals.length > 1))) return false
  const isSpokenOf = [...above.slice(0, 2), ...below.slice(0, 2)].some(
    (line) => lastIn(around.actions, line) ?? lastIn(around.names, line),
  )
  const isAnnounced = nearest && /:\s*$/.test(around.text.slice(nearest.start, nearest.end))
  return isSpokenOf || (around.isAboutCodes && (one.form !== 'mixed' || isAnnounced === true))
}
