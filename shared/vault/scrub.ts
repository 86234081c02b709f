/**
 * Takes every reflection of secrets out of an answer before an agent reads it: as they are, folded,
 * escaped, encoded, reversed, spread out or compressed, in headers and bodies. Known limits: a part of a
 * secret is not recognized, since then it could be found part by part, nor one whose parts stand apart
 * with other text between; where a site says what it is told, the agent can try guesses, of which the gaps
 * tell what scrub/alike.ts says, so a password that stands in a dictionary is found; and it cannot help
 * against a site that works with the agent, which can always tell a secret in a cipher.
 */
import { isRemovable, secretsMax } from './removable.ts'
import { type Alike, alikeOf, likeNone } from './scrub/alike.ts'
import { compressedRanges } from './scrub/compressed.ts'
import { foldedSearchFor } from './scrub/folded-search.ts'
import { glanceFor } from './scrub/glance-table.ts'
import { joined, type Range } from './scrub/range.ts'
import { type Search, searchWith } from './scrub/search.ts'
import { type Sequence, sequencesOf } from './scrub/sequences.ts'
import { type AnswerText, readAnswerText } from './scrub/text.ts'
import { longestReader, unitsOf } from './scrub/units.ts'
import { writingsOf } from './scrub/writings.ts'

/** Stands in the place of what was removed. */
export const removedMark = '[secret removed]'

/** The longest that the end of a cut answer could hold of one character, as `\u{0041}` and gaps. */
const writtenBytesMax = 16

/** A longer token is looked for in its folded form alone. */
const tokenCharactersMax = 128

/** What the guarded client read: not compressed, whole or cut at its limit. */
export type RawAnswer = {
  headers: readonly (readonly [string, string])[]
  body: Uint8Array
  truncated: boolean
}

/** Text that may be shown, with the number of places that were removed, or why none of it is. */
export type ScrubbedAnswer =
  | { headers: [string, string][]; body: string; removed: number }
  /** It is no text, so nobody can say what is in it. */
  | { withheld: 'not_text' }
  /** A secret of fewer than six characters that lasts was sent: what is told would add up to it. */
  | { withheld: 'short_secret' }

/** Scrubs one answer after the other for the same secrets. */
export type Scrubber = (answer: RawAnswer) => Promise<ScrubbedAnswer>

/**
 * Prepares the scrubbing for secrets; empty ones are none. Tokens need not be kept from guesses, such as a
 * session that a site drew itself: of long ones only what they look like is looked for, not every encoding.
 */
export function scrubberFor(secrets: readonly string[], tokens: readonly string[] = []): Scrubber {
  const distinct = [...new Set(secrets)].filter((secret) => secret !== '')
  if (distinct.length > secretsMax) throw new Error('too many secrets to scrub for')
  const shown = tokens.filter((token) => isRemovable(token) && !distinct.includes(token))
  const search = searchFor(distinct, shown)
  const tailBytes = Math.max(0, ...distinct.map((secret) => secret.length * writtenBytesMax))
  return async ({ headers, body, truncated }) => {
    const whole = readAnswerText({ body, headers, truncated })
    if (whole === undefined || hidesIn(body, whole, search)) return { withheld: 'not_text' }
    const lines = headers.flat().map(asText)
    const [kept, ...parts] = await Promise.all([
      removeFrom(whole, search, truncated ? tailBytes : 0),
      ...lines.map((line) => removeFrom(line, search, 0)),
    ])
    return {
      headers: headers.map((_, at) => [parts[2 * at]?.text ?? '', parts[2 * at + 1]?.text ?? '']),
      body: kept.text,
      removed: [kept, ...parts].reduce((sum, { removed }) => sum + removed, 0),
    }
  }
}

/** Written as it is, in one form of many, or in other characters that mean the same to a reader. */
function searchFor(secrets: readonly string[], tokens: readonly string[]): Search {
  const whole = tokens.filter(({ length }) => length <= tokenCharactersMax)
  const sequences = [
    ...secrets.flatMap((secret) => formsOf(secret, alikeOf(secret))),
    ...whole.flatMap((token) => formsOf(token, likeNone)),
  ]
  const search = searchWith(glanceFor(sequences))
  const searchFolded = foldedSearchFor({ secrets, tokens }, unitsOf)
  return (bytes) => {
    const { ranges, compressed } = search(bytes)
    return { ranges: joined([...ranges, ...searchFolded(bytes)]), compressed }
  }
}

function formsOf(text: string, alike: Alike): Sequence[] {
  return writingsOf(text).flatMap((writing) => sequencesOf(writing, alike))
}

/** Whether bytes hold more than their text does: they are said to be in an encoding that they are not in. */
function hidesIn(body: Uint8Array, { bytes, isUtf8 }: AnswerText, search: Search): boolean {
  return !isUtf8 && search(body).ranges.length > search(bytes).ranges.length
}

function asText(text: string): AnswerText {
  return { text, bytes: new TextEncoder().encode(text), isUtf8: true }
}

async function rangesOf(bytes: Uint8Array, search: Search): Promise<Range[]> {
  const { ranges, compressed } = search(bytes)
  return joined([
    ...ranges,
    ...(await compressedRanges(bytes, compressed, { search, makeReader: longestReader })),
  ])
}

/** A tail is removed unseen: of what is cut off, its part of a secret cannot be recognized. */
async function removeFrom(
  answer: AnswerText,
  search: Search,
  tailBytes: number,
): Promise<{ text: string; removed: number }> {
  const ranges = await rangesOf(answer.bytes, search)
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
