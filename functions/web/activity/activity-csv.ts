import type { ActivityItem } from '../../../shared/payments/show/activity.ts'

const columns = [
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

/** Writes items as CSV (RFC 4180), with a byte order mark so that spreadsheets read UTF-8. */
export function csvBytes(items: readonly ActivityItem[]): Uint8Array<ArrayBuffer> {
  const lines = items.map((item) => columns.map((column) => cell(valueOf(item, column))).join(','))
  return new TextEncoder().encode(`\ufeff${[columns.join(','), ...lines].join('\r\n')}\r\n`)
}

function valueOf(item: ActivityItem, column: (typeof columns)[number]): string {
  const facts: Record<string, unknown> = { ...item, time: item.at }
  if (column === 'words_of_others') return Object.values(item.untrusted ?? {}).join(' ')
  const value = facts[column]
  return typeof value === 'string' ? value : ''
}

/**
 * Quotes one cell. A text that a spreadsheet would run as a formula gets an apostrophe in front (OWASP,
 * CSV injection), because memos and aliases are written by strangers.
 */
function cell(text: string): string {
  const inert = /^[\s"']*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text
  return `"${inert.replaceAll('"', '""')}"`
}
