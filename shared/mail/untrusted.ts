/**
 * Words of strangers as data. What they write reaches an agent only in the field `untrusted`, with
 * who wrote it and how much it was, and without characters that hide, reorder or control. Whether
 * the words are true or kind is not judged here, and codes are sealed before (`codes.ts`).
 */

/** The field in which an answer holds what a stranger wrote. */
export type Untrusted = {
  /** Who is said to have written it: a stranger's word as well. */
  from: string
  /** UTF-16 units of the whole text, of which `text` may be the beginning. */
  length: number
  truncated: boolean
  text: string
}

/**
 * Controls, formats (bidi, zero width, tags), surrogates, private and unassigned ones,
 * separators of lines, what renders as nothing (variation selectors, fillers), and the blank
 * Braille pattern, which looks like a space and is none.
 */
const hidden = '[\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]'
const hiddenOnes = new RegExp(hidden, 'gu')
const hiddenInLines = new RegExp(`(?![\\n\\t])${hidden}`, 'gu')
const lineEnds = /\r\n?|[\v\f\u0085\u2028\u2029]/g

const fromLengthMax = 320

/** Marks a text as a stranger's, cut to at most `lengthMax` UTF-16 units. */
export function untrusted(
  { from, text }: { from: string; text: string },
  lengthMax: number,
): Untrusted {
  const whole = visibleText(text)
  return {
    from: cut(visibleLine(from), fromLengthMax),
    length: whole.length,
    truncated: whole.length > lengthMax,
    text: cut(whole, lengthMax),
  }
}

/** The text as a person sees it: lines end with LF, and nothing is there that cannot be seen. */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(lineEnds, '\n').replaceAll(hiddenInLines, '')
}

/** The same as one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').trim()
}

/** The text with a mark for each character that would hide, for a reader who has to notice. */
export function markHidden(text: string): string {
  return text.toWellFormed().replaceAll(hiddenOnes, '\ufffd')
}

const termsMax = 16
const textLengthMax = 256

/** A field of a stranger's: its name is a stranger's word too, and so never the name of one of ours. */
export type NamedWords = { name: string; value: string }

/** A stranger's fields as short texts, for people to read. */
export function termsShown(fields: Record<string, unknown>): NamedWords[] {
  return Object.entries(fields)
    .slice(0, termsMax)
    .map(([name, value]) => ({ name: shown(name), value: shown(textOf(value)) }))
}

/** Cut short, and with a mark for what would hide. */
export function shown(text: string): string {
  return markHidden(cut(text, textLengthMax))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** At most so many UTF-16 units, never half a character. */
export function cut(text: string, lengthMax: number): string {
  return /[\ud800-\udbff]/.test(text.charAt(lengthMax - 1))
    ? text.slice(0, lengthMax - 1)
    : text.slice(0, lengthMax)
}
