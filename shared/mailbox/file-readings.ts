/**
 * The ways in which a file of a mail can be read by who is given it: its charset is not kept, and what is
 * said of its kind is a stranger's word. A code in any of these is one that the file tells.
 */
import { htmlText } from './html-text.ts'

/** Bytes of a file in an unknown charset that are looked through. */
export const unknownBytesMax = 64 * 1024
/** Characters of a text with markup that are looked through a second time. */
export const markedLengthMax = 256 * 1024

const charsets = `windows-1252 windows-1251 koi8-r shift_jis euc-jp gb18030 big5 euc-kr
  windows-1253 windows-1255 windows-1256`.split(/\s+/)
/** These show by a byte that no other text has: zero, and escape. */
const wideCharsets = ['utf-16le', 'utf-16be']
const switchingCharsets = ['iso-2022-jp']

/** More of a file are control characters where it is a picture, a document or an archive. */
const controlsMax = 0.02

/** Whether bytes are a text in some charset, or one with a few control characters. */
export function isAlmostText(content: Uint8Array): boolean {
  const begin = content.subarray(0, unknownBytesMax)
  const wide = begin.filter((byte) => byte === 0).length
  const controls = begin.filter((byte) => byte < 32 && byte !== 0 && !isUsual(byte)).length
  const isWide = wide > begin.length * 0.3 && wide < begin.length * 0.6
  return controls <= begin.length * controlsMax && (wide === 0 || isWide)
}

/** Tab, the ends of lines and pages, and escape, with which terminals and Japanese texts switch. */
function isUsual(byte: number): boolean {
  return (byte >= 9 && byte <= 13) || byte === 27
}

/** A file in each charset in which it may have been written. */
export function inCharsets(content: Uint8Array): string[] {
  const begin = content.subarray(0, unknownBytesMax)
  const shown = content.includes(0) ? wideCharsets : charsets
  const all = content.includes(27) ? [...shown, ...switchingCharsets] : shown
  return all.map((charset) => withoutControls(new TextDecoder(charset).decode(begin)))
}

/** Without control characters, and without the sequences that colour a terminal. */
export function withoutControls(text: string): string {
  return text
    .replaceAll(/(?![\t\n\r])\p{Cc}\[[\d;]{0,16}[a-z]/giu, '')
    .replaceAll(/(?![\t\n\r])\p{Cc}/gu, '')
}

/** A text of a calendar or card as whole lines (RFC 5545 section 3.1). */
export function unfolded(text: string): string {
  return /^\s{0,8}BEGIN:V/i.test(text) ? text.replaceAll(/\r?\n[ \t]/g, '') : text
}

/** What a program shows of a text with markup; nothing where it has none. */
export function withoutMarkup(text: string): string[] {
  if (text.startsWith('{\\rtf')) {
    return [text.replaceAll(/\\[a-z]{1,32}-?\d{0,10} ?|[{}]/gi, '')]
  }
  return /<\/?[a-z!]/i.test(text) ? [htmlText(text).text] : []
}

const rowsMax = 2_000
const columnName =
  /passw|pwd|secret|token|(?:api|access|private)[ _-]?key(?! ?id)|\bpin\b|\botp\b|code\b/i
const otherColumn = /post|zip|country|promo|area|error|status|currency|product|item/i

/** What stands in the columns of a table whose first line names secrets. */
export function secretCells(text: string): string[] {
  const [first = '', ...rows] = text.slice(0, 256 * 1024).split(/\r?\n/, rowsMax)
  const mark = [',', ';', '\t'].find((one) => first.split(one).length > 1)
  if (mark === undefined || first.length > 2_000) return []
  const columns = first
    .split(mark)
    .flatMap((name, at) => (columnName.test(name) && !otherColumn.test(name) ? [at] : []))
  return rows
    .map((row) => row.split(mark))
    .flatMap((cells) => columns.map((at) => (cells[at] ?? '').replaceAll('"', '').trim()))
    .filter(({ length }) => length > 3)
}
