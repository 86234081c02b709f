/**
 * Reads the files of a mail. The text of one is searched for codes like that of the mail; pictures,
 * documents and archives are not searched.
 */
import { htmlText } from '../html/html-text.ts'
import { decodeText, isText } from './charset.ts'

/** Ways in which an agent may read a file. */
export type FileReading = 'text' | 'bytes' | 'withheld'

/** Names of files with mails in them, and of signed mails. */
const mailName =
  /\.(?:eml|emlx|emltpl|mbox|mbx|msg|oft|mht|mhtml|tnef|pst|ost|p7m|p7z)\.{0,3}$|^winmail\.dat$/i
/** The header of an encoded part (RFC 2045 section 6), and the beginning of a document in RTF. */
const encodedText = /^[> ]{0,8}content-transfer-encoding[ \t]{0,8}:|\{\\rtf/im
const page = /<(?:!doctype html|html|body|table|div|p|td)[\s>]/i

/** Reads a file. A mail within the mail and encoded text are withheld: codes in them are not found. */
export function readAttachment(
  name: string,
  type: string,
  content: Uint8Array,
): { reading: FileReading; text?: string } {
  if (type.startsWith('message/') || mailName.test(name.trim())) return { reading: 'withheld' }
  const text = decodeText(content)
  if (text === undefined || (!isText(text) && !type.startsWith('text/')))
    return { reading: 'bytes' }
  if (encodedText.test(text)) return { reading: 'withheld' }
  const isPage = type === 'text/html' || page.test(text)
  return { reading: 'text', text: isPage ? htmlText(text).text : unfolded(text) }
}

/** Joins the folded lines of a calendar or card (RFC 5545 section 3.1). */
function unfolded(text: string): string {
  return /^\s{0,8}BEGIN:V/i.test(text) ? text.replaceAll(/\r?\n[ \t]/g, '') : text
}
