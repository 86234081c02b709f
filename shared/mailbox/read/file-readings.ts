/**
 * The ways in which a recipient may read a file of a mail. Its charset is not kept, and its type is a
 * stranger's word, so a code that appears in any of these readings counts as disclosed by the file.
 */
import { htmlText } from '../html/html-text.ts'
import { hasRtf, withoutRtf } from '../html/rtf-text.ts'

/** Maximum number of bytes that are searched of a file in an unknown charset. */
export const unknownBytesMax = 64 * 1024
/** Maximum length of a text with markup that is searched a second time. */
export const markedLengthMax = 256 * 1024

const charsets = `windows-1252 windows-1251 koi8-r shift_jis euc-jp gb18030 big5 euc-kr
  windows-1253 windows-1255 windows-1256`.split(/\s+/)
/** Charsets that are recognized by a byte that no other text has: zero, or escape. */
const wideCharsets = ['utf-16le', 'utf-16be']
const switchingCharsets = ['iso-2022-jp']

/** Share of control characters above which a file is a picture, a document or an archive. */
const controlsMax = 0.02

/** Returns true if bytes are a text in some charset, even with a few control characters. */
export function isAlmostText(content: Uint8Array): boolean {
  const begin = content.subarray(0, unknownBytesMax)
  const wide = begin.filter((byte) => byte === 0).length
  const controls = begin.filter((byte) => byte < 32 && byte !== 0 && !isUsual(byte)).length
  const isWide = wide > begin.length * 0.3 && wide < begin.length * 0.6
  return controls <= begin.length * controlsMax && (wide === 0 || isWide)
}

/** Returns true for tab, ends of lines and pages, and escape, which terminals and Japanese charsets use. */
function isUsual(byte: number): boolean {
  return (byte >= 9 && byte <= 13) || byte === 27
}

/** Decodes a file in each charset in which it may have been written. */
export function inCharsets(content: Uint8Array): string[] {
  const begin = content.subarray(0, unknownBytesMax)
  const shown = content.includes(0) ? wideCharsets : charsets
  const all = content.includes(27) ? [...shown, ...switchingCharsets] : shown
  return all.map((charset) => withoutControls(new TextDecoder(charset).decode(begin)))
}

/** Removes control characters, and the sequences that colour a terminal. */
export function withoutControls(text: string): string {
  return text
    .replaceAll(/(?![\t\n\r])\p{Cc}\[[\d;]{0,16}[a-z]/giu, '')
    .replaceAll(/(?![\t\n\r])\p{Cc}/gu, '')
}

/** Joins the folded lines of a calendar or card (RFC 5545 section 3.1). */
export function unfolded(text: string): string {
  return /^\s{0,8}BEGIN:V/i.test(text) ? text.replaceAll(/\r?\n[ \t]/g, '') : text
}

/** Returns true if a text contains markup of HTML or RTF. */
export function hasMarkup(text: string): boolean {
  return htmlMarkup.test(text) || hasRtf(text)
}

const htmlMarkup = /<\/?[a-z!]/i

/** Returns the texts that programs show of a text with markup; nothing if it has none. */
export function withoutMarkup(text: string): string[] {
  return [
    ...(hasRtf(text) ? [withoutRtf(text)] : []),
    ...(htmlMarkup.test(text) ? [withoutRtf(htmlText(text).text)] : []),
  ]
}

const rowsMax = 2_000
const columnName =
  /passw|pwd|secret|token|(?:api|access|private)[ _-]?key(?! ?id)|\bpin\b|\botp\b|code\b/i
const otherColumn = /post|zip|country|promo|area|error|status|currency|product|item/i

/** Returns the cells of the columns whose header names a secret. */
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
