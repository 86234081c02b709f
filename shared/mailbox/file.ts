/**
 * A file of a mail as an agent is given it: what is text as text, with codes sealed; anything else as
 * bytes. What a picture or a document shows is not looked through.
 */
import { encodeBase64 } from '../base64.ts'
import type { Untrusted } from '../mail/untrusted.ts'
import { visibleText } from '../mail/untrusted.ts'
import { sealPlaces } from './code-places.ts'
import { findCodes } from './codes.ts'
import {
  inCharsets,
  isAlmostText,
  markedLengthMax,
  secretCells,
  unfolded,
  unknownBytesMax,
  withoutControls,
  withoutMarkup,
} from './file-readings.ts'
import { htmlText } from './html-text.ts'
import type { MailFile, OpenedMail } from './port.ts'
import { pageOf } from './text-page.ts'

/** A page of bytes; a multiple of 3, so that pages of base64 can be joined. */
const pageBytes = 96 * 1024

/** Beginnings of a code that are looked for. */
const partsMax = 24

/** A page of a file and where it goes on. */
export type FilePage = { next: number | null } & (
  | { untrusted: Untrusted }
  | { content_base64: string }
)

/** The file from an offset on: characters of a text, bytes of anything else. */
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

/** The text as an agent may read it; nothing of it where another reading tells a code that this one hides. */
function shownOf({ content }: MailFile, text: string, subject: string): string {
  const shown = withoutCells(sealed(text, subject), secretCells(text))
  const isUncertain = content.includes(27) || !isUtf8(content)
  if (isUncertain && content.length > unknownBytesMax) return withheld
  const marked = withoutMarkup(text)
  if (marked.length > 0 && text.length > markedLengthMax) return withheld
  const readings = [...(isUncertain ? inCharsets(content) : []), ...marked]
  const told = bareOf(shown)
  const codes = new Set(readings.flatMap((reading) => codesIn(visibleText(reading), subject)))
  const isTold = [...codes].slice(0, codesMax).some((code) => isToldIn(told, bareOf(code)))
  return codes.size > codesMax || isTold ? withheld : shown
}

/** Of a file with more codes nothing is told where it can be read in several ways. */
const codesMax = 40
const withheld = '[file withheld]'

/** Whether so many signs of a code stand in a row that the rest can be guessed. */
function isToldIn(told: string, code: string): boolean {
  const length = Math.min(code.length, /^\d+$/.test(code) ? 4 : 8)
  const last = Math.min(code.length, partsMax) - length
  return Array.from({ length: last + 1 }, (_, at) => code.slice(at, at + length)).some((part) =>
    told.includes(part),
  )
}

/** No handle stands for such a code: it is only left out. */
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

/** Without markup and what is only for the eye. */
function bareOf(text: string): string {
  return text.replaceAll(/<[^<>]*>|\\[a-z]{1,32}-?\d{0,10} ?|[\s{}-]+/gi, '')
}

/** What no text has: ASCII's control characters but for tabs and ends of lines and pages. */
const inNoText = /(?![\t-\r\u007f-\u009f])\p{Cc}/u

/** What is said to be text, or is text whatever it is said to be. */
function textIn({ type, content }: MailFile): string | undefined {
  const text = decoded(type, content)
  if (text === undefined) return undefined
  return visibleText(type === 'text/html' ? htmlText(text).text : unfolded(text))
}

/** What is nearly text, in the charset of old programs or in the one that has a zero in each letter. */
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
    // The charset is not kept with a file; old programs write this one, and it reads any bytes.
    return isSaidToBe ? new TextDecoder('windows-1252').decode(content) : undefined
  }
}

/** Spreadsheets write UTF-16, and begin it with a byte order mark. */
function charsetOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
