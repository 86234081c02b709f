/**
 * Finds secrets that signs alone join to their names, whatever the signs: dots, arrows, bars, brackets,
 * pictures, or the columns of a table. Words between the two are left to `named-values.ts`.
 */
import { isRandomAlone, isRandomInText, isSecret } from './drawn-text.ts'
import { isIssueKey, weakName } from './secret-words.ts'
import type { Span } from './spans.ts'
import { isTouched, spanAt } from './spans.ts'
import { lineEnd, lineStart } from './text-lines.ts'
import { type NamedText, namesMax } from './value-lines.ts'

/** Signs that point from a name to its value; a comma or a full stop only ends a part of a sentence. */
const pointing = /[|=:;#•·*~>»›/_\])\u2500-\u259f\p{Sm}\p{So}\p{Emoji_Presentation}[{<(`-]|\.{2}|…/u
const endOfName = /^\p{L}{0,14}(?: \p{L}{1,14}){0,3}(?= {0,2}[^\s\p{L}\p{N}])|^\p{L}{0,14}/u
const token = /^(\s{0,12})(\S{1,80})/u
const tokensMax = 4
/** A value on the line of its name or above it, and the signs between them. */
const valueBefore =
  /(?:^|\n|[^\s\p{L}\p{N}] )[ >*_`•|[(«"]{0,6}(\d{2,5}(?: \d{2,5}){1,3}|\S{4,64}?)([\])»"*_`]{0,3} {0,4}[^\s\p{L}\p{N},.;!?]{1,12} {0,4}|\n[^\p{L}\p{N}\n]{0,8})(?:\p{L}{1,20}[ -]){0,3}\p{L}{0,20}$/u
const restOfName = /^\p{L}{0,14}(?: \p{L}{1,14}){0,3}[^\p{L}\p{N}\n]{0,12}(?:\n|$)/u

/** Returns the values that signs join to the names of a text. */
export function pointedValues(page: NamedText): Span[] {
  if (page.names.length > namesMax) return []
  return page.names
    .flatMap((name) => {
      const inColumn = valuesInColumn(page, name)
      const found = inColumn.length > 0 ? inColumn : valueBehind(page, name)
      return found.length > 0 ? found : valueAbove(page, name)
    })
    .filter(
      (span) => !isTouched(page.links, span) && !isTouched(page.names, spanAt(span.start, ' ')),
    )
}

function valueBehind(page: NamedText, name: Span): Span[] {
  const { text } = page
  let at = name.end + (endOfName.exec(text.slice(name.end, name.end + 80))?.[0].length ?? 0)
  let signs = ''
  for (let count = 0; count < tokensMax; count += 1) {
    const [whole = '', space = '', run = ''] = token.exec(text.slice(at, at + 96)) ?? []
    if (run === '') return []
    const start = at + space.length
    if (!/[\p{L}\p{N}]/u.test(run)) {
      signs += run
      at += whole.length
      continue
    }
    const opening = /^[^\s\p{L}\p{N}\p{Sc}]{1,3}/u.exec(run)?.[0] ?? ''
    if (!pointing.test(signs + opening)) return []
    const value = valueAt(page, start + opening.length)
    const isOther = isTouched(page.others, { start: name.end, end: start })
    if (!value || isOther || !isValueOf(page, name, value)) return []
    const isDashed = /^[-\s]*$/.test(signs + opening)
    return isDashed && !isRandomInText(page.written(value)) ? [] : [value]
  }
  return []
}

/** Returns the run at an offset without the signs around it; digits may be in groups. */
function valueAt({ text }: NamedText, at: number): Span | undefined {
  const rest = text.slice(at, at + 96)
  const groups = /^\d{2,5}(?: \d{2,5}){1,4}(?![\p{L}\p{N}]| \p{L})/u.exec(rest)?.[0]
  const run = groups ?? /^\S{3,80}/.exec(rest)?.[0].replace(/["'»”」』】)*_`\]}>|.,;]{1,4}$/u, '')
  return run === undefined || run === '' ? undefined : spanAt(at, run)
}

/** Returns true if a value looks like one of its name, and signs or the end of the line follow it. */
function isValueOf(page: NamedText, name: Span, value: Span): boolean {
  const written = page.written(value)
  if (/^\d{2,5}(?: \d{2,5})+$/.test(written)) return written.length > 4
  const called = page.text.slice(name.start, name.end)
  if (isIssueKey(called, written)) return false
  if (isRandomInText(written)) return true
  const isLast = /^[^\p{L}\p{N}\n]{0,12}(?:\n|$)|^[^\p{L}\p{N}\n]{0,4}[|·•~/]/u.test(
    page.text.slice(value.end, value.end + 16),
  )
  return isLast && !weakName.test(called) && isRandomAlone(written)
}

/** Returns the value before a name that ends its line. */
function valueAbove(page: NamedText, name: Span): Span[] {
  const { text } = page
  if (!restOfName.test(text.slice(name.end, name.end + 90))) return []
  const from = Math.max(0, name.start - 160)
  const [whole = '', value = '', joint = ''] = valueBefore.exec(text.slice(from, name.start)) ?? []
  if (value === '') return []
  const start = name.start - whole.length + whole.indexOf(value)
  const span = valueAt(page, start)
  if (!span || (!joint.includes('\n') && !pointing.test(joint))) return []
  const written = page.written(span)
  const isNumber = /^\d[\d ]{3,}$/.test(written)
  return isNumber || isRandomInText(written) ? [span] : []
}

/** Returns the cell below the cell of a name in the next row of a table with the same number of cells. */
function valuesInColumn({ text, written }: NamedText, name: Span): Span[] {
  const line = { start: lineStart(text, name.start), end: lineEnd(text, name.end) }
  const heads = cellsOf(text, line)
  const column = heads.findIndex(({ start, end }) => start <= name.start && end >= name.end)
  if (heads.length < 2 || column === -1) return []
  const rows: Span[] = []
  for (let at = line.end + 1; at < text.length && rows.length < 12; ) {
    const row = { start: at, end: lineEnd(text, at) }
    at = row.end + 1
    if (!/[\p{L}\p{N}]/u.test(text.slice(row.start, row.end))) continue
    const cells = cellsOf(text, row)
    const cell = cells.length === heads.length ? cells[column] : undefined
    if (!cell) break
    rows.push(cell)
  }
  return rows.filter((cell) => {
    const value = written(cell)
    return isSecret(value) && (/^\d[\d ]{3,12}$/.test(value) || isRandomAlone(value))
  })
}

/** Returns the cells of a row, which bars or wide gaps divide. */
function cellsOf(text: string, { start, end }: Span): Span[] {
  return [...text.slice(start, end).matchAll(/[^\s|│┃║](?:[^\n|│┃║\t ]| (?! ))*/gu)].map(
    ({ 0: cell, index }) => spanAt(start + index, cell.trimEnd()),
  )
}
