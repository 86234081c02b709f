/**
 * Handles words of strangers as data. They reach an agent only in the field `untrusted`, with their
 * author and length, and without characters that hide, reorder or control text. This file does not
 * judge whether the words are true or harmless, and codes are sealed before (`mailbox/codes/codes.ts`).
 */

/** The field in which an answer holds words of a stranger. */
export type Untrusted = {
  /** The claimed author, which is a stranger's word as well. */
  from: string
  /** UTF-16 units of the whole text. `text` may be only its beginning. */
  length: number
  truncated: boolean
  text: string
}

/**
 * Control and format characters (bidi, zero width, tags), surrogates, private and unassigned code
 * points, line and paragraph separators, characters that render as nothing (variation selectors,
 * fillers), and the blank Braille pattern, which looks like a space.
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

/** Returns the text as a person sees it: lines end with LF, and invisible characters are removed. */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(lineEnds, '\n').replaceAll(hiddenInLines, '')
}

/** Returns the visible text as one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll(/\s+/g, ' ').trim()
}

/** Replaces each hidden character with U+FFFD, for a reader who has to notice them. */
export function markHidden(text: string): string {
  return text.toWellFormed().replaceAll(hiddenOnes, '\ufffd')
}

const termsMax = 16
const textLengthMax = 256

/** A field written by a stranger. Its name is a stranger's word too, so it never becomes a field name. */
export type NamedWords = { name: string; value: string }

/** Returns a stranger's fields as short texts for people to read, at most 16 of them. */
export function termsShown(fields: Record<string, unknown>): NamedWords[] {
  return Object.entries(fields)
    .slice(0, termsMax)
    .map(([name, value]) => ({ name: shortVisible(name), value: shortVisible(textOf(value)) }))
}

/** Cuts the text to 256 UTF-16 units and marks hidden characters. */
export function shortVisible(text: string): string {
  return markHidden(cut(text, textLengthMax))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Cuts a text to at most `lengthMax` UTF-16 units, without splitting a surrogate pair. */
export function cut(text: string, lengthMax: number): string {
  return /[\ud800-\udbff]/.test(text.charAt(lengthMax - 1))
    ? text.slice(0, lengthMax - 1)
    : text.slice(0, lengthMax)
}

/**
 * Returns the text without any of these characters at its end. Uses a loop, because a pattern such as
 * `/0+$/` starts again at every run of the character and takes quadratic time on a text with many.
 */
export function trimEndOf(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
