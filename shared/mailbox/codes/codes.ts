/**
 * Finds one-time codes and sign-in links in a mail, so that handles can take their place and an agent
 * can have them used without reading them. It goes by words in about forty languages and by form. In a
 * mail that signs somebody in, a doubtful link is sealed. Codes in a picture or spelled out in words
 * are not found.
 */
import { type Candidate, candidatesIn, isPromotion, runsByForm } from './code-candidates.ts'
import { isCode, type SubjectWords, type Surroundings, surroundingsOf } from './code-context.ts'
import {
  addressesIn,
  hasToken,
  type MailboxContext,
  placesInAddress,
  placesInName,
  signsIn,
} from './code-links.ts'
import { type CodePlace, codePlaceOf, merge, repeats, valuesMax, writtenAt } from './code-places.ts'
import { type FoldedText, foldText } from './folded-text.ts'
import { isRandomAlone, isRandomInText, isYear } from './random-text.ts'
import { isTouched, type Span, spansOf } from './text-lines.ts'
import { namedValues, standingOut, unnamedValues } from './values.ts'
import { actionPattern, codeNamePattern, nonSecretNamePattern, passwordPattern } from './words.ts'

/** All texts of one mail that an agent could read: both bodies, and also names of people and files. */
export type MailTexts = {
  subject: string
  texts: readonly string[]
  /** The name of the author, which is one of the texts, by its index. */
  authorName?: number
  /** The addresses of the author and the recipients. */
  addresses?: readonly string[]
  /** True if a login of the author's site is in use: whatever has the form of a code then counts as one. */
  isInUse?: boolean
}

/** The secrets of each text of a mail, in order. */
export type MailPlaces = { subject: CodePlace[]; texts: CodePlace[][]; addresses: CodePlace[][] }

/** Maximum occurrences of a code of letters: subject, heading, one sentence per text. Words have more. */
const timesMax = 8
/** Maximum number of candidates that are judged. In a text with more, all candidates are sealed. */
const candidatesMax = 10_000

type Part = {
  original: string
  folded: FoldedText
  links: Span[]
  candidates: Candidate[]
  around: Surroundings
}

/**
 * Finds the secrets of a mail. A code found in one text is searched for in all others: the same code
 * may be in the subject, the plain text and a link.
 */
export function findCodes({
  subject,
  texts,
  authorName,
  addresses = [],
  isInUse = false,
}: MailTexts): MailPlaces {
  const words = wordsOf(foldText(subject).text)
  const parts = [subject, ...texts].map((text) => partOf(text, words))
  const found = parts.map((part) => [
    ...linkPlaces(part),
    ...codePlaces(part),
    ...(isInUse ? placesByForm(part) : []),
    ...[namedValues, standingOut].flatMap((valuesIn) => valuePlaces(part, valuesIn)),
  ])
  const isAny = (test: (place: CodePlace) => boolean) => found.some((places) => places.some(test))
  // A word in lower case may have been taken for the code, while the code itself stands alone below.
  const isFound = () => isAny(({ kind, value }) => kind === 'code' && !/^[\p{Ll} ]+$/u.test(value))
  if (!isFound()) {
    for (const [at, part] of parts.entries()) found[at]?.push(...valuePlaces(part, unnamedValues))
  }
  const isNamed = parts.some(({ around }) => around.names.length > 0)
  const isActive = words.isSubjectActive || parts.some(({ around }) => around.actions.length > 0)
  // A code is named and none found: a name that a member chose may look like the label of another number.
  if (!isFound() && isNamed && isActive) {
    for (const [at, part] of parts.entries()) found[at]?.push(...formedPlaces(part))
  }
  const codes = found.flat().flatMap(({ kind, value }) => (kind === 'code' ? [value] : []))
  const written = [...new Set(codes)].slice(0, valuesMax)
  const values = new Set(written.filter((value) => isRare(value, parts)))
  const context = {
    isFound: isAny(() => true),
    isAbout: words.isSubjectAbout && parts.some(({ around }) => around.isNamed),
  }
  if (authorName !== undefined)
    found[authorName + 1]?.push(...placesInName(texts[authorName] ?? '', context))
  const inAddresses = addresses.map((address, at) =>
    addressPlaces(address, at > 0, values, context),
  )
  for (const { value } of inAddresses.flat()) values.add(value)
  const places = parts.map((part, at) => merge([...(found[at] ?? []), ...repeats(part, values)]))
  return { subject: places[0] ?? [], texts: places.slice(1), addresses: inAddresses }
}

function addressPlaces(
  address: string,
  isRecipient: boolean,
  values: ReadonlySet<string>,
  context: MailboxContext,
): CodePlace[] {
  const repeated = repeats({ original: address, folded: foldText(address) }, values)
  return placesInAddress({ address, isRecipient, repeated }, context)
}

/** Returns true if a value differs from the words of the texts, by its characters or because it is rare. */
function isRare(value: string, parts: readonly Part[]): boolean {
  if (isRandomInText(value) || /^\d{4,}$/.test(value)) return true
  if (!/^[a-z][A-Za-z]{3,}$/.test(value) || !isRandomAlone(value)) return false
  const folded = value.toLowerCase()
  const count = parts.reduce((sum, part) => sum + part.folded.text.split(folded).length - 1, 0)
  return count <= timesMax
}

function wordsOf(subject: string): SubjectWords {
  const others = spansOf(nonSecretNamePattern, subject)
  const speaksOf = (words: RegExp) =>
    spansOf(words, subject).some((span) => !isTouched(others, span))
  const isSubjectActive = speaksOf(actionPattern)
  const isSubjectNamed = speaksOf(codeNamePattern) || speaksOf(passwordPattern)
  return { isSubjectAbout: isSubjectNamed || isSubjectActive, isSubjectNamed, isSubjectActive }
}

function partOf(original: string, words: SubjectWords): Part {
  const folded = foldText(original)
  const links = addressesIn(folded.text)
  const written = (span: Span) => writtenAt(original, folded, span)
  const candidates: Candidate[] = candidatesIn(folded.text, written, links)
  return {
    original,
    folded,
    links,
    candidates,
    around: surroundingsOf(folded.text, links, words),
  }
}

function linkPlaces({ original, folded, links, around }: Part): CodePlace[] {
  return links
    .map((span) => codePlaceOf('link', folded, span, original))
    .filter(({ value }, at) => signsIn(value, links[at] ?? { start: 0, end: 0 }, around))
}

/** Finds whatever has the form of a code, and every link with a token. */
function placesByForm({ original, folded, links, candidates }: Part): CodePlace[] {
  const written = (span: Span) => writtenAt(original, folded, span)
  return [
    ...links
      .map((span) => codePlaceOf('link', folded, span, original))
      .filter(({ value }) => hasToken(value)),
    ...runsByForm({ text: folded.text, written, links }, candidates).map((span) =>
      codePlaceOf('code', folded, span, original),
    ),
  ]
}

function codePlaces({ original, folded, candidates, around }: Part): CodePlace[] {
  const isJudged = candidates.length <= candidatesMax
  return candidates
    .filter((one) => !isJudged || isCode(around, one, candidates))
    .filter((one) => !isPromotion(folded.text, one, writtenAt(original, folded, one)))
    .map((one) => codePlaceOf('code', folded, one, original))
}

function formedPlaces({ original, folded, candidates }: Part): CodePlace[] {
  const written = (span: Span) => writtenAt(original, folded, span)
  return candidates
    .filter((one) => !isYear(written(one)) && (one.form !== 'letters' || /-/.test(written(one))))
    .map((one) => codePlaceOf('code', folded, one, original))
}

function valuePlaces(
  { original, folded, links, around }: Part,
  valuesIn: typeof namedValues,
): CodePlace[] {
  const { text } = folded
  const { others, actions, isNamed } = around
  const isActive = around.actions.length > 0 || around.secretNames.length > 0
  const isAbout = around.isAboutCodes || (valuesIn === unnamedValues && isActive)
  const written = (span: Span) => writtenAt(original, folded, span)
  const names = [...around.names, ...around.secretNames].toSorted((a, b) => a.start - b.start)
  return valuesIn({ text, written, links, names, others, actions, isAbout, isNamed })
    .filter((span) => !isPromotion(text, span, written(span)))
    .map((span) => codePlaceOf('code', folded, span, original))
}
