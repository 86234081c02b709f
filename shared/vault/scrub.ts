/**
 * Removes every reflection of secrets from headers and body of an answer before an agent reads it: as they
 * are, folded, escaped, encoded, reversed, spread out or compressed. Known limits: a part of a secret is
 * not recognized, since then it could be found part by part; nor is a secret whose parts have other text
 * between them. If a site repeats its input, the agent can try guesses, and the gaps tell what
 * scrub/alike.ts says, so a dictionary password is found. It cannot help against a site that colludes with
 * the agent, which can always pass a secret on in a cipher.
 */
import { isRemovable, secretsMax } from './removable.ts'
import { type Equivalents, equivalentsOf, onlyItself } from './scrub/alike.ts'
import { compressedRanges } from './scrub/compressed.ts'
import { encodedRanges } from './scrub/encoded.ts'
import { foldedSearchFor } from './scrub/folded-search.ts'
import { prefilterFor } from './scrub/glance-table.ts'
import { joined, type Range } from './scrub/range.ts'
import { type Search, searchWith, type Work, workFor } from './scrub/search.ts'
import { type Sequence, sequencesOf } from './scrub/sequences.ts'
import { type AnswerText, readAnswerText } from './scrub/text.ts'
import { longestReader, unitsOf } from './scrub/units.ts'
import { writingsOf } from './scrub/writings.ts'

/** Mark that replaces a removed secret. */
export const removedMark = '[secret removed]'

/** Most bytes that one character can take at the end of a cut answer, as `\u{0041}` with gaps. */
const writtenBytesMax = 16

/** Longest token, and most tokens, that are searched for in every encoding; others only in folded form. */
const [tokenCharactersMax, tokensMax] = [128, 96]

/** Answer that the guarded client read: not compressed, whole or cut at its limit. */
export type RawAnswer = {
  headers: readonly (readonly [string, string])[]
  body: Uint8Array
  truncated: boolean
}

/** Text that may be shown, with the number of places that were removed, or why none of it is shown. */
export type ScrubbedAnswer =
  | { headers: [string, string][]; body: string; removed: number }
  /** The answer is not text, so its content cannot be checked. */
  | { withheld: 'not_text' }
  /** A lasting secret under six characters was sent, and the gaps of several answers would reveal it. */
  | { withheld: 'short_secret' }

/** Function that scrubs one answer after another for the same secrets. */
export type Scrubber = (answer: RawAnswer) => Promise<ScrubbedAnswer>

/** Forms of single secrets and searches for several, by their texts. */
type Prepared = { forms: Map<string, Sequence[]>; searches: Map<string, Search> }

/** A search, and the work that it had with an answer so far. */
type Reader = { search: Search; work: Work }

const nothingPrepared = (): Prepared => ({ forms: new Map(), searches: new Map() })

/**
 * Returns `scrubberFor` for one visit to a site, which scrubs several answers for nearly the same secrets
 * and prepares for each of them once. It holds the secrets as long as it is held itself.
 */
export function scrubbersOfVisit(): typeof scrubberFor {
  const prepared = nothingPrepared()
  return (secrets, tokens) => scrubberFor(secrets, tokens, prepared)
}

/**
 * Prepares scrubbing for secrets; empty ones are ignored. Tokens, such as a session that a site generated,
 * need no protection from guesses: long ones are searched for only as they look, not in every encoding.
 */
export function scrubberFor(
  secrets: readonly string[],
  tokens: readonly string[] = [],
  prepared = nothingPrepared(),
): Scrubber {
  const distinct = [...new Set(secrets)].filter((secret) => secret !== '')
  if (distinct.length > secretsMax) throw new Error('too many secrets to scrub for')
  const shown = tokens.filter((token) => isRemovable(token) && !distinct.includes(token))
  const key = JSON.stringify([distinct.toSorted(), shown.toSorted()])
  const search = once(prepared.searches, key, () => searchFor(distinct, shown, prepared))
  const tailBytes = Math.max(0, ...distinct.map((secret) => secret.length * writtenBytesMax))
  return async ({ headers, body, truncated }) => {
    const whole = readAnswerText({ body, headers, truncated })
    const reader = { search, work: workFor(body) }
    if (whole === undefined || hidesIn(body, whole, reader)) return { withheld: 'not_text' }
    const lines = headers.flat().map(asText)
    const [kept, ...parts] = await Promise.all([
      removeFrom(whole, reader, truncated ? tailBytes : 0),
      ...lines.map((line) => removeFrom(line, reader, 0)),
    ])
    return {
      headers: headers.map((_, at) => [parts[2 * at]?.text ?? '', parts[2 * at + 1]?.text ?? '']),
      body: kept.text,
      removed: [kept, ...parts].reduce((sum, { removed }) => sum + removed, 0),
    }
  }
}

/** Combines the search for every encoding with the search for lookalike characters. */
function searchFor(
  secrets: readonly string[],
  tokens: readonly string[],
  { forms }: Prepared,
): Search {
  const whole = tokens.filter(({ length }) => length <= tokenCharactersMax).slice(0, tokensMax)
  const sequences = [
    ...secrets.flatMap((one) => once(forms, `s${one}`, () => formsOf(one, equivalentsOf(one)))),
    ...whole.flatMap((one) => once(forms, `t${one}`, () => formsOf(one, onlyItself))),
  ]
  const search = searchWith(prefilterFor(sequences))
  const searchFolded = foldedSearchFor({ secrets, tokens }, unitsOf)
  return (bytes, work) => {
    const { ranges, compressed } = search(bytes, work)
    return { ranges: joined([...ranges, ...searchFolded(bytes)]), compressed }
  }
}

function once<Value>(made: Map<string, Value>, key: string, make: () => Value): Value {
  const value = made.get(key) ?? make()
  made.set(key, value)
  return value
}

function formsOf(text: string, alike: Equivalents): Sequence[] {
  return writingsOf(text).flatMap((writing) => sequencesOf(writing, alike))
}

/** True if the body holds secrets that its text does not, because it misstates its own encoding. */
function hidesIn(
  body: Uint8Array,
  { bytes, isUtf8 }: AnswerText,
  { search, work }: Reader,
): boolean {
  return !isUtf8 && search(body, work).ranges.length > search(bytes, work).ranges.length
}

function asText(text: string): AnswerText {
  return { text, bytes: new TextEncoder().encode(text), isUtf8: true }
}

async function rangesOf(bytes: Uint8Array, { search, work }: Reader): Promise<Range[]> {
  const { ranges, compressed } = search(bytes, work)
  const reader = { search, work, makeReader: longestReader }
  return joined([
    ...ranges,
    ...encodedRanges(bytes, reader),
    ...(await compressedRanges(bytes, compressed, reader)),
  ])
}

/** Removes secrets and, unread, the tail of a cut answer, where part of a secret would go unrecognized. */
async function removeFrom(
  answer: AnswerText,
  reader: Reader,
  tailBytes: number,
): Promise<{ text: string; removed: number }> {
  const ranges = await rangesOf(answer.bytes, reader)
  if (ranges.length === 0 && tailBytes === 0) return { text: answer.text, removed: 0 }
  const { bytes } = answer
  const tail = { start: Math.max(0, bytes.length - tailBytes), end: bytes.length }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let [text, from] = ['', 0]
  for (const { start, end } of joined(tailBytes === 0 ? ranges : [...ranges, tail])) {
    text += decoder.decode(bytes.subarray(from, start)) + removedMark
    from = end
  }
  return { text: text + decoder.decode(bytes.subarray(from)), removed: ranges.length }
}
