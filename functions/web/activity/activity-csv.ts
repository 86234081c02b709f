/** Files of the activity for spreadsheets: CSV (RFC 4180), with a byte order mark so that they read UTF-8. */
import type { ActivityItem } from '../../../shared/payments/show/activity.ts'

/** Number of lines in one file, which a spreadsheet opens without trouble. */
export const exportedMax = 5_000

/** Text of one cell, by column. */
type Line = Readonly<Record<string, string>>

const eventColumns = [
  'time',
  'category',
  'type',
  'summary',
  'status',
  'amount',
  'token',
  'chain',
  'tx_hash',
  'words_of_others',
] as const

/** Writes the events, one a line; a last line tells that older ones are missing. */
export function csvBytes(items: readonly ActivityItem[]): Uint8Array<ArrayBuffer> {
  return fileOf(
    eventColumns,
    items.map(({ untrusted, at, ...item }) => ({
      ...item,
      ref: '',
      from: '',
      time: at,
      words_of_others: Object.values(untrusted ?? {}).join(' '),
    })),
  )
}

function fileOf(columns: readonly string[], lines: readonly Line[]): Uint8Array<ArrayBuffer> {
  const shown = lines.slice(0, exportedMax)
  if (lines.length > exportedMax) shown.push({ [columns[0] ?? '']: cutWords })
  const texts = shown.map((line) =>
    columns.map((column) => cell(line[column] ?? '', signed.has(column))).join(','),
  )
  return new TextEncoder().encode(`\ufeff${[columns.join(','), ...texts].join('\r\n')}\r\n`)
}

/** Columns of our own numbers, which stay numbers whatever their sign. */
const signed = new Set(['amount', 'usd_value'])

const cutWords = `Only the newest ${exportedMax} lines are here. Export the rest by earlier dates.`

/**
 * Quotes one cell. A text that a spreadsheet would run as a formula gets an apostrophe in front (OWASP,
 * CSV injection), because memos and aliases are written by strangers.
 */
function cell(text: string, isNumber: boolean): string {
  const isFormula = !isNumber && /^[\s"']*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text)
  const inert = isFormula ? `'${text}` : text
  return `"${inert.replaceAll('"', '""')}"`
}
