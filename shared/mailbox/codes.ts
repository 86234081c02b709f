/**
 * Finds one-time codes and sign-in links in a mail, and puts handles in their place, so that an
 * agent can have them used without reading them. It goes by words in twelve languages and by form;
 * in doubt about a link in a mail that signs somebody in, it seals. What a picture shows, or a text
 * spells out in words, it does not see.
 */
import type { Candidate } from './code-candidates.ts'
import { candidatesIn } from './code-candidates.ts'
import type { SubjectWords, Surroundings } from './code-context.ts'
import { isCode, surroundingsOf } from './code-context.ts'
import { addressesIn, signsIn } from './code-links.ts'
import type { CodePlace } from './code-places.ts'
import { actionPattern, codeNamePattern, otherPattern } from './code-words.ts'
import { isDrawn, looksDrawn } from './drawn-text.ts'
import type { FoldedText } from './folded-text.ts'
import { foldText } from './folded-text.ts'
import { namedValues } from './named-values.ts'
import { passwordPattern } from './secret-words.ts'
import type { Span } from './spans.ts'
import { isTouched, spansOf } from './spans.ts'
import { standingOut, unnamedValues } from './unnamed-values.ts'

/** All that an agent would read of one mail: both bodies, but names of people and files as well. */
export type MailTexts = { subject: string; texts: readonly string[] }

/** The secrets of each text of a mail, in their order. */
export type MailPlaces = { subject: CodePlace[]; texts: CodePlace[][] }

/** Codes of one mail that are looked for again; a mail has one or two, a list of them ten. */
const valuesMax = 100
/** In a subject, a heading and a sentence of both texts; a word of small letters is there more often. */
const timesMax = 8
/** Of a text with more that could be codes, none is judged and all are sealed. */
const candidatesMax = 10_000

type Part = {
  original: string
  folded: FoldedText
  links: Span[]
  candidates: Candidate[]
  around: Surroundings
}

/**
 * Finds the secrets of a mail. What was found in one text is found in all others: a code in the
 * subject, in the plain text and in a link is one code.
 */
export function findCodes({ subject, texts }: MailTexts): MailPlaces {
  const folded = foldText(subject).text
  const words = {
    isSubjectAbout: speaksOf([codeNamePattern, actionPattern, passwordPattern], folded),
    isSubjectNamed: speaksOf([codeNamePattern, passwordPattern], folded),
    isSubjectActive: speaksOf([actionPattern], folded),
  }
  const parts = [subject, ...texts].map((text) => partOf(text, words))
  const found = parts.map((part) => [
    ...linkPlaces(part),
    ...codePlaces(part),
    ...valuePlaces(part, namedValues),
    ...valuePlaces(part, standingOut),
  ])
  // A word of small letters may have been taken for one, and the code itself stand alone below.
  const isFound = () =>
    found.flat().some(({ kind, value }) => kind === 'code' && !/^\p{Ll}+$/u.test(value))
  if (!isFound()) {
    for (const [at, part] of parts.entries()) found[at]?.push(...valuePlaces(part, unnamedValues))
  }
  if (!isFound()) {
    for (const [at, part] of parts.entries()) found[at]?.push(...unlabelledPlaces(part, words))
  }
  const values = new Set(
    found
      .flat()
      .flatMap(({ kind, value }) => (kind === 'code' && isRare(value, parts) ? [value] : [])),
  )
  const places = parts.map((part, at) => merge([...(found[at] ?? []), ...repeats(part, values)]))
  return { subject: places[0] ?? [], texts: places.slice(1) }
}

/** Whether a value is no word of the texts: by its signs, or as it hardly stands in them. */
function isRare(value: string, parts: readonly Part[]): boolean {
  if (looksDrawn(value) || /^\d{4,}$/.test(value)) return true
  if (!/^[a-z][A-Za-z]{3,}$/.test(value) || !isDrawn(value)) return false
  const folded = value.toLowerCase()
  const count = parts.reduce((sum, part) => sum + part.folded.text.split(folded).length - 1, 0)
  return count <= timesMax
}

function speaksOf(patterns: readonly RegExp[], folded: string): boolean {
  const others = spansOf(otherPattern, folded)
  return patterns.some((words) => spansOf(words, folded).some((span) => !isTouched(others, span)))
}

function partOf(original: string, words: SubjectWords): Part {
  const folded = foldText(original)
  const links = addressesIn(folded.text)
  const written = ({ start, end }: Span) => original.slice(folded.at[start], folded.at[end])
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
    .map((span) => placeOf('link', folded, span, original))
    .filter(({ value }, at) => signsIn(value, links[at] ?? { start: 0, end: 0 }, around))
}

function codePlaces({ original, folded, candidates, around }: Part): CodePlace[] {
  const isJudged = candidates.length <= candidatesMax
  return candidates
    .filter((one) => !isJudged || isCode(around, one, candidates))
    .map((one) => placeOf('code', folded, one, original))
}

/** The same where the names of other numbers speak for nothing, in a part that names a code. */
function unlabelledPlaces(part: Part, subject: SubjectWords): CodePlace[] {
  const { isNamed, allNames, ...around } = part.around
  if (!isNamed) return []
  const names = subject.isSubjectNamed && subject.isSubjectActive ? allNames : around.names
  return codePlaces({ ...part, around: { ...part.around, names, isUnlabelled: true } })
}

function valuePlaces(
  { original, folded, links, around }: Part,
  valuesIn: typeof namedValues,
): CodePlace[] {
  const { text } = folded
  const { others, actions, isNamed } = around
  const isAbout = around.isAboutCodes || (valuesIn === unnamedValues && around.actions.length > 0)
  const written = ({ start, end }: Span) => original.slice(folded.at[start], folded.at[end])
  const names = [...around.names, ...around.secretNames].toSorted((a, b) => a.start - b.start)
  return valuesIn({ text, written, links, names, others, actions, isAbout, isNamed }).map((span) =>
    placeOf('code', folded, span, original),
  )
}

/** Further places of codes that were found, whatever stands around them. */
function repeats({ original, folded }: Part, values: ReadonlySet<string>): CodePlace[] {
  return [...values].slice(0, valuesMax).flatMap((value) => {
    if (!/^[\p{L}\p{N} -]{4,64}$/u.test(value)) return literally(original, value)
    const signs = foldText(value).text.replaceAll(/[^\p{L}\p{N}]/gu, '')
    const pattern = new RegExp(
      `(?<![a-z0-9])${Array.from(signs).join('[ -]{0,3}')}(?![a-z0-9])`,
      'gu',
    )
    return [...folded.text.matchAll(pattern)].map(({ 0: whole, index }) =>
      placeOf('code', folded, { start: index, end: index + whole.length }, original),
    )
  })
}

/** The places of a secret that has other signs than letters and digits, written as it was found. */
function literally(original: string, value: string): CodePlace[] {
  const places: CodePlace[] = []
  let start = original.indexOf(value)
  while (start !== -1) {
    places.push({ kind: 'code', start, end: start + value.length, value })
    start = original.indexOf(value, start + value.length)
  }
  return places
}

function placeOf(
  kind: CodePlace['kind'],
  { at }: FoldedText,
  span: Span,
  original: string,
): CodePlace {
  const [start = 0, end = 0] = [at[span.start], at[span.end]]
  const written = original.slice(start, end)
  return {
    kind,
    start,
    end,
    value: kind === 'link' ? written.replaceAll('\n', '') : enteredAs(written),
  }
}

/** Groups and foreign digits are for the eye; a field takes plain signs. Letters keep their dashes. */
function enteredAs(written: string): string {
  const signs = written.normalize('NFKC').replaceAll(/[\s\u200b-\u2060]+/g, '')
  const plain = signs.replaceAll(/\p{Nd}|\p{Pd}/gu, (sign) => foldText(sign).text)
  return /^[\d-]+$/.test(plain) ? plain.replaceAll('-', '') : plain
}

/** In their order and apart: of two that overlap the longer one counts, for all that both cover. */
function merge(places: readonly CodePlace[]): CodePlace[] {
  const kept: CodePlace[] = []
  for (const place of places.toSorted((a, b) => a.start - b.start)) {
    const last = kept.at(-1)
    if (!last || last.end <= place.start) {
      kept.push(place)
      continue
    }
    const longer = place.end - place.start > last.end - last.start ? place : last
    kept[kept.length - 1] = { ...longer, start: last.start, end: Math.max(last.end, place.end) }
  }
  return kept
}
