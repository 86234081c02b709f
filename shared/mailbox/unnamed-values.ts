/**
 * Secrets that nothing names, in a mail that speaks of codes or of signing in: by how they stand in it,
 * and in the last resort by standing alone.
 */
import { labelGap, numberLabel } from './code-words.ts'
import { isDrawn, isDrawnForSure, isNumberedRow, isPhrase, isRowOfCodes } from './drawn-text.ts'
import { usedFor } from './secret-words.ts'
import type { Span } from './spans.ts'
import { isTouched, lastIn } from './spans.ts'
import type { NamedText } from './value-lines.ts'
import { isApart, isBareLabel, isOtherLabel, runsOf } from './value-lines.ts'

const rowOnLine = /^[ \t]{0,8}([^\s:]{1,64}(?:[ \t]{1,4}[^\s:]{1,64}){1,23})[ \t]{0,8}$/gmu
const lastBehindColon = /: {1,3}(\S{8,64})[ \t]{0,4}$/gmu
const aloneOnLine = /^[ \t>*_]{0,8}([^\s*_]{3,63}[^\s*_.,;!?])[ \t*_]{0,8}$/gmu
const cellsOnLine = /^[ \t]{0,8}(\S(?: \S){3,63})[ \t]{0,8}$/gmu
const wordsOnLine = /^[ \t]{0,8}([a-z]{2,12}(?: [a-z]{2,12}){3,23})[ \t]{0,8}$/gmu

/** In a mail that speaks of codes: rows of them, and what ends a line behind a colon, drawn for sure. */
export function standingOut(page: NamedText): Span[] {
  if (!page.isAbout) return []
  const rows = runsOf(page, rowOnLine).filter(
    (row) => (isRowOfCodes(page, row) || isNumberedRow(page, row)) && !isBelowOther(page, row),
  )
  const ends = runsOf(page, lastBehindColon).filter(
    (span) =>
      isDrawnForSure(page.written(span)) &&
      !isOtherLabel(page.text, span.start, [page.names, page.actions]),
  )
  return [...rows, ...ends].filter((span) => !isTouched(page.links, span))
}

/**
 * What could be the secret of a mail that speaks of one and in which none was found: what is alone on
 * its line, or to be used or entered, and is no word with a capital.
 */
export function unnamedValues(page: NamedText): Span[] {
  if (!page.isAbout) return []
  const lines = runsOf(page, aloneOnLine).filter(
    (span) => isApart(page.text, span) && !isBelowOther(page, span),
  )
  const cells = [
    ...runsOf(page, cellsOnLine).filter((span) => isApart(page.text, span)),
    ...runsOf(page, wordsOnLine).filter(
      (span) => isPhrase(page, span, 4) && isApart(page.text, span),
    ),
  ]
  const words = [...runsOf(page, usedFor), ...lines].filter((span) => isDrawn(page.written(span)))
  return [...words, ...cells].filter(
    (span) => !isTouched(page.links, span) && !isTouched(page.names, span),
  )
}

/** Whether the line above ends in the name of another number, or is a label that names no secret. */
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
