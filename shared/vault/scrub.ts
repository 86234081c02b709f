/**
 * Takes every reflection of secrets out of an answer before an agent reads it: as they are, escaped,
 * encoded, reversed, spread out or compressed, in headers and bodies. Known limits: a part of a secret
 * is not recognized, nor one whose parts stand apart with other text between; and it cannot help
 * against a site that works with the agent, as who knows a secret can always tell it in a cipher.
 */
import { isRemovable, secretsMax } from './removable.ts'
import { compressedRanges } from './scrub/compressed.ts'
import { glanceFor } from './scrub/glance-table.ts'
import { joined, type Range } from './scrub/range.ts'
import { type Search, searchWith } from './scrub/search.ts'
import { sequencesOf } from './scrub/sequences.ts'
import { type AnswerText, readAnswerText } from './scrub/text.ts'

/** Stands in the place of what was removed. */
export const removedMark = '[secret removed]'

/** The longest that the end of a cut answer could hold of one character, as `\u{0041}` and gaps. */
const writtenBytesMax = 16

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
  /** It holds a secret of fewer than six characters, which cannot be removed without telling it. */
  | { withheld: 'short_secret' }

/** Scrubs one answer after the other for the same secrets. */
export type Scrubber = (answer: RawAnswer) => Promise<ScrubbedAnswer>

/** Prepares the scrubbing for secrets; empty ones are none. */
export function scrubberFor(secrets: readonly string[]): Scrubber {
  const distinct = [...new Set(secrets)].filter((secret) => secret !== '')
  if (distinct.length > secretsMax) throw new Error('too many secrets to scrub for')
  const isShort = (secret: string) => !isRemovable(secret)
  const search = (chosen: string[]) => searchWith(glanceFor(chosen.flatMap(sequencesOf)))
  const short = distinct.some(isShort) ? search(distinct.filter(isShort)) : undefined
  const long = search(distinct.filter((secret) => !isShort(secret)))
  const tailBytes = Math.max(0, ...distinct.map((secret) => secret.length * writtenBytesMax))
  return async ({ headers, body, truncated }) => {
    const whole = readAnswerText({ body, headers, truncated })
    if (whole === undefined) return { withheld: 'not_text' }
    const lines = headers.flat().map(asText)
    if (short && (await isInAny(short, [whole, ...lines]))) return { withheld: 'short_secret' }
    const [kept, ...parts] = await Promise.all([
      removeFrom(whole, long, truncated ? tailBytes : 0),
      ...lines.map((line) => removeFrom(line, long, 0)),
    ])
    return {
      headers: headers.map((_, at) => [parts[2 * at]?.text ?? '', parts[2 * at + 1]?.text ?? '']),
      body: kept.text,
      removed: [kept, ...parts].reduce((sum, { removed }) => sum + removed, 0),
    }
  }
}

function asText(text: string): AnswerText {
  return { text, bytes: new TextEncoder().encode(text) }
}

async function isInAny(search: Search, texts: readonly AnswerText[]): Promise<boolean> {
  const found = await Promise.all(texts.map(({ bytes }) => rangesOf(bytes, search)))
  return found.some((ranges) => ranges.length > 0)
}

async function rangesOf(bytes: Uint8Array, search: Search): Promise<Range[]> {
  const { ranges, compressed } = search(bytes)
  if (compressed.length === 0) return ranges
  return joined([...ranges, ...(await compressedRanges(bytes, compressed, search))])
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
