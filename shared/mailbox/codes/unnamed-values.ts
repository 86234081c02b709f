/**
 * Finds secrets without a name, in a mail about codes or signing in: by their position in the text, and
 * as a last resort because they stand alone.
 */
import { isRandomAlone, isRowOfCodes, isSurelyRandom } from './drawn-text.ts'
import type { NamedText } from './named-text.ts'
import { beginsSentence, isBareLabel, isOtherLabel, runsOf } from './named-text.ts'
import type { Span } from './spans.ts'
import { isTouched, lastIn } from './spans.ts'
import { labelGap, numberLabel, usedFor } from './words.ts'

const rowOnLine = /^[ \t]{0,8}([^\s:]{1,64}(?:[ \t]{1,4}[^\s:]{1,64}){1,23})[ \t]{0,8}$/gmu
const lastBehindColon = /: {1,3}(\S{8,64})[ \t]{0,4}$/gmu
const aloneOnLine =
  /^[ \t>*_|[(]{0,8}([^\s*_|[(][^\s*_|]{2,62}[^\s*_.,;!?|\])])[ \t*_|\])]{0,8}$/gmu
const cellsOnLine = /^[ \t]{0,8}(\S(?: \S){3,63})[ \t]{0,8}$/gmu

/** Returns rows of codes, and random-looking ends of lines after a colon, in a mail about codes. */
export function standingOut(page: NamedText): Span[] {
  if (!page.isAbout) return []
  const rows = runsOf(page, rowOnLine).filter(
    (row) => isRowOfCodes(page, row) && !isBelowOther(page, row),
  )
  const ends = runsOf(page, lastBehindColon).filter(
    (span) =>
      isSurelyRandom(page.written(span)) &&
      !isOtherLabel(page.text, span.start, [page.names, page.actions]),
  )
  return [...rows, ...ends].filter((span) => !isTouched(page.links, span))
}

/**
 * Returns the possible secrets of a mail about codes in which none was found: runs alone on a line, or
 * to be used or entered, except words with a capital.
 */
export function unnamedValues(page: NamedText): Span[] {
  if (!page.isAbout) return []
  const lines = runsOf(page, aloneOnLine).filter(
    (span) => beginsSentence(page.text, span) && !isBelowOther(page, span),
  )
  const cells = runsOf(page, cellsOnLine).filter((span) => beginsSentence(page.text, span))
  const words = [...runsOf(page, usedFor), ...lines].filter((span) =>
    isRandomAlone(page.written(span)),
  )
  return [...words, ...cells].filter(
    (span) => !isTouched(page.links, span) && !isTouched(page.names, span),
  )
}

/** Returns true if the line above ends in the name of another number, or is a label of no secret. */
function isBelowOther(
  { text, others, names, actions, isNamed }: NamedText,
  { start }: Span,
): boolean {
  const from = Math.max(0, start - 60)
  const above = text.slice(from, start).trimEnd()
  if (!isNamed && isBareLabel(above.slice(above.lastIndexOf('\n') + 1))) return true
  const other = lastIn(others, { start: from, end: start })
  if (other !== undefined && labelGap.test(text.slice(other.end, start))) return true
  return numberLabel.test(text.slice(from, start)) || isOtherLabel(text, start, [names, actions])
}
