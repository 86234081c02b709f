/**
 * A file of a mail as an agent is given it: what is text as text, with codes sealed; anything else as
 * bytes. What a picture or a document shows is not looked through.
 */
import { encodeBase64 } from '../base64.ts'
import type { Untrusted } from '../mail/untrusted.ts'
import { visibleText } from '../mail/untrusted.ts'
import { sealPlaces } from './code-places.ts'
import { findCodes } from './codes.ts'
import { htmlText } from './html-text.ts'
import type { MailFile, OpenedMail } from './port.ts'
import { pageOf } from './text-page.ts'

/** A page of bytes; a multiple of 3, so that pages of base64 can be joined. */
const pageBytes = 96 * 1024

/** A page of a file and where it goes on. */
export type FilePage = { next: number | null } & (
  | { untrusted: Untrusted }
  | { content_base64: string }
)

/** The file from an offset on: characters of a text, bytes of anything else. */
export function filePage(file: MailFile, mail: OpenedMail, offset: number): FilePage {
  const text = textIn(file)
  if (text === undefined) {
    const end = offset + pageBytes
    const content_base64 = encodeBase64(file.content.subarray(offset, end))
    return { content_base64, next: end < file.content.length ? end : null }
  }
  const { from, text: subject } = mail.untrusted.subject
  const shown = file.showsCodes ? text : sealed(text, subject)
  const { page, next } = pageOf({ from, text: shown }, offset)
  return { untrusted: page, next }
}

/** No handle stands for such a code: it is only left out. */
function sealed(text: string, subject: string): string {
  const [places = []] = findCodes({ subject, texts: [text] }).texts
  return sealPlaces(text, places, () => 'withheld')
}

/** What no text has: ASCII's control characters but for tabs and ends of lines and pages. */
const inNoText = /(?![\t-\r\u007f-\u009f])\p{Cc}/u

/** What is said to be text, or is text whatever it is said to be. */
function textIn({ type, content }: MailFile): string | undefined {
  const text = decoded(type, content)
  if (text === undefined) return undefined
  return visibleText(type === 'text/html' ? htmlText(text).text : text)
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
