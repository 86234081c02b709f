/** The places of secrets in a text: as they are written, found again in other texts, merged, and sealed. */
import { type FoldedText, foldText } from './folded-text.ts'
import type { Span } from './text-lines.ts'

/** A secret in a text: `text.slice(start, end)` is how it is written, and `value` is what is entered. */
export type CodePlace = { kind: 'code' | 'link'; start: number; end: number; value: string }

/** Returns the text with a handle in place of each secret, such as `[code c_7f3a]`. */
export function sealPlaces<Place extends Omit<CodePlace, 'value'>>(
  text: string,
  places: readonly Place[],
  handleFor: (place: Place) => string,
): string {
  let sealed = ''
  let at = 0
  for (const place of places) {
    sealed += `${text.slice(at, place.start)}[${place.kind} ${handleFor(place)}]`
    at = place.end
  }
  return sealed + text.slice(at)
}

/** Maximum number of codes that are searched for again. A mail has one or two, a list of them ten. */
export const valuesMax = 100

/** Returns a span of the folded text as it is written. */
export function writtenAt(original: string, { at }: FoldedText, { start, end }: Span): string {
  return original.slice(at[start], at[end])
}

/** Finds further places of codes that were found, whatever is around them. */
export function repeats(
  { original, folded }: { original: string; folded: FoldedText },
  values: ReadonlySet<string>,
): CodePlace[] {
  return [...values].slice(0, valuesMax).flatMap((value) => {
    if (!/^[\p{L}\p{N} -]{4,64}$/u.test(value)) return literally(original, value)
    const signs = foldText(value).text.replaceAll(/[^\p{L}\p{N}]/gu, '')
    return spacedIn(folded.text, Array.from(signs)).map((span) =>
      codePlaceOf('code', folded, span, original),
    )
  })
}

/** Finds signs that are not part of a word, with up to three spaces and hyphens between two of them. */
function spacedIn(text: string, [first, ...others]: readonly string[]): Span[] {
  if (first === undefined) return []
  const spans: Span[] = []
  let start = text.indexOf(first)
  while (start !== -1) {
    const end = endOfSpaced(text, start + first.length, others)
    const isWhole = end !== undefined && !isPartOfWord(text, end) && !isPartOfWord(text, start - 1)
    if (isWhole) spans.push({ start, end })
    start = text.indexOf(first, isWhole ? end : start + 1)
  }
  return spans
}

function endOfSpaced(text: string, start: number, signs: readonly string[]): number | undefined {
  let end = start
  for (const sign of signs) {
    const signMax = end + 3
    while (end < signMax && (text[end] === ' ' || text[end] === '-')) end += 1
    if (!text.startsWith(sign, end)) return undefined
    end += sign.length
  }
  return end
}

function isPartOfWord(text: string, at: number): boolean {
  return /[a-z0-9]/.test(text.charAt(at))
}

/** Finds the places of a secret with characters besides letters and digits, exactly as it was found. */
function literally(original: string, value: string): CodePlace[] {
  const places: CodePlace[] = []
  let start = original.indexOf(value)
  while (start !== -1) {
    places.push({ kind: 'code', start, end: start + value.length, value })
    start = original.indexOf(value, start + value.length)
  }
  return places
}

/** Returns the place of a span of the folded text in the original. */
export function codePlaceOf(
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

/** Returns a code as it is entered: only digits, letters as they are, and words with a space between them. */
function enteredAs(written: string): string {
  const isOfWords = /\s/.test(written.trim()) && /\p{Ll}{2}/u.test(written)
  if (isOfWords) return written.trim().replaceAll(/\s+/g, ' ')
  const plain = /^[!-~]*$/.test(written) ? written : withoutSpaces(written)
  const isOfDigits = /^[\d()[\]-]+$|^\d(?:[^\p{L}\d]\d)+$/u.test(plain)
  return isOfDigits ? plain.replaceAll(/\D/g, '') : plain
}

function withoutSpaces(written: string): string {
  const signs = written.normalize('NFKC').replaceAll(/[\s\u200b-\u2060]+/g, '')
  return signs.replaceAll(/\p{Nd}|\p{Pd}/gu, (sign) => foldText(sign).text)
}

/** Sorts places and merges overlaps. The longer of two counts, and covers the range of both. */
export function merge(places: readonly CodePlace[]): CodePlace[] {
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
