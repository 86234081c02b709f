/**
 * Returns a file of a mail as an agent may have it: text with its codes sealed, and any other file as
 * bytes. Pictures and documents are not searched for codes.
 */
import { encodeBase64 } from '../../base64.ts'
import type { Untrusted } from '../../mail/untrusted.ts'
import { visibleText } from '../../mail/untrusted.ts'
import { sealPlaces } from '../codes/code-places.ts'
import { findCodes } from '../codes/codes.ts'
import { htmlText } from '../html/html-text.ts'
import type { MailFile, OpenedMail } from '../port.ts'
import {
  hasMarkup,
  inCharsets,
  isAlmostText,
  markedLengthMax,
  secretCells,
  unfolded,
  unknownBytesMax,
  withoutControls,
  withoutMarkup,
} from './file-readings.ts'
import { pageOf } from './text-page.ts'

/** Size of a page of bytes. It is a multiple of 3, so that pages of base64 can be joined. */
const pageBytes = 96 * 1024

/** Number of first characters of a code in which parts are searched for. */
const partsMax = 24

/** A page of a file, and the offset of the next page. */
export type FilePage = { next: number | null } & (
  | { untrusted: Untrusted }
  | { content_base64: string }
)

/** Returns the page at an offset, which counts characters of a text and bytes of any other file. */
export function filePage(file: MailFile, mail: OpenedMail, offset: number): FilePage {
  const text = textIn(file)
  const { from, text: subject } = mail.untrusted.subject
  if (text === undefined && (file.showsCodes || !isAlmostText(file.content))) {
    const end = offset + pageBytes
    const content_base64 = encodeBase64(file.content.subarray(offset, end))
    return { content_base64, next: end < file.content.length ? end : null }
  }
  const shown = file.showsCodes ? (text ?? '') : shownOf(file, text ?? textOf(file), subject)
  const { page, next } = pageOf({ from, text: shown }, offset)
  return { untrusted: page, next }
}

/** Returns the text for an agent, withheld if too long to check or if another reading shows its code. */
function shownOf({ content }: MailFile, text: string, subject: string): string {
  const isUncertain = content.includes(27) || !isUtf8(content)
  if (isUncertain && content.length > unknownBytesMax) return withheld
  if (text.length > markedLengthMax && hasMarkup(text)) return withheld
  const shown = withoutCells(sealed(text, subject), secretCells(text))
  const readings = [...(isUncertain ? inCharsets(content) : []), ...withoutMarkup(text)]
  const codes = new Set(readings.flatMap((reading) => codesIn(visibleText(reading), subject)))
  if (codes.size === 0) return shown
  // References of HTML and escapes of RTF hide a code only until they are read.
  const told = [shown, ...withoutMarkup(shown)].map(bareOf).join('\n')
  const isTold = [...codes].slice(0, codesMax).some((code) => isToldIn(told, bareOf(code)))
  return codes.size > codesMax || isTold ? withheld : shown
}

/** Maximum number of codes in a file that can be read in several ways. A file with more is withheld. */
const codesMax = 40
const withheld = '[file withheld]'

/** Returns true if so many characters of a code are shown together that the rest can be guessed. */
function isToldIn(told: string, code: string): boolean {
  const length = Math.min(code.length, /^\d+$/.test(code) ? 4 : 8)
  const last = Math.min(code.length, partsMax) - length
  return Array.from({ length: last + 1 }, (_, at) => code.slice(at, at + length)).some((part) =>
    told.includes(part),
  )
}

/** Removes the codes of a text. No handle stands for them, so they are only left out. */
function sealed(text: string, subject: string): string {
  const [places = []] = findCodes({ subject, texts: [text] }).texts
  return sealPlaces(text, places, () => 'withheld')
}

function codesIn(text: string, subject: string): string[] {
  const [places = []] = findCodes({ subject, texts: [text] }).texts
  return places.map(({ value }) => value).filter(({ length }) => length > 3)
}

function withoutCells(text: string, cells: readonly string[]): string {
  const secret = new Set(cells)
  return secret.size === 0
    ? text
    : text.replaceAll(/[^,;\t\r\n"]+/g, (cell) =>
        secret.has(cell.trim()) ? '[code withheld]' : cell,
      )
}

/** Removes markup, spaces and dashes. */
function bareOf(text: string): string {
  return text.replaceAll(/<[^<>]*>|\\[a-z]{1,32}-?\d{0,10} ?|[\s{}-]+/gi, '')
}

/** Characters that no text has: ASCII control characters except tab and the ends of lines and pages. */
const inNoText = /(?![\t-\r\u007f-\u009f])\p{Cc}/u

/** Returns the text of a file that is declared as text, or is text by its bytes; else undefined. */
function textIn({ type, content }: MailFile): string | undefined {
  const text = decoded(type, content)
  if (text === undefined) return undefined
  return visibleText(type === 'text/html' ? htmlText(text).text : unfolded(text))
}

/** Decodes a file that is nearly text, in UTF-16, UTF-8 or the charset of old programs. */
function textOf({ content }: MailFile): string {
  const charset = content.includes(0) ? (content[0] === 0 ? 'utf-16be' : 'utf-16le') : 'utf-8'
  const isWide = charset !== 'utf-8'
  const text = new TextDecoder(isWide || isUtf8(content) ? charset : 'windows-1252').decode(content)
  return visibleText(unfolded(withoutControls(text)))
}

function isUtf8(content: Uint8Array): boolean {
  try {
    new TextDecoder(charsetOf(content), { fatal: true }).decode(content)
    return true
  } catch {
    return false
  }
}

function decoded(type: string, content: Uint8Array): string | undefined {
  const isSaidToBe = type.startsWith('text/')
  try {
    const text = new TextDecoder(charsetOf(content), { fatal: true }).decode(content)
    return !isSaidToBe && inNoText.test(text) ? undefined : text
  } catch {
    // A file's charset is not kept. Old programs write Windows-1252, which decodes any bytes.
    return isSaidToBe ? new TextDecoder('windows-1252').decode(content) : undefined
  }
}

/** Returns the charset that a byte order mark names; spreadsheets write UTF-16 with one. */
function charsetOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
