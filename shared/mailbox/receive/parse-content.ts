/** Reads the texts and files of a mail. */
import type { Attachment } from 'postal-mime'
import { visibleLine } from '../../mail/untrusted.ts'
import { htmlText } from '../html/html-text.ts'
import { decodeText } from './charset.ts'
import { type FileReading, readFile } from './file-text.ts'
import { type MailLimits, mailLimits, type ParsedHead, parseParts } from './parse.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { headOf, type TextPart } from './parse-structure.ts'

/** A file of a mail, with its text if it has one. */
export type ParsedFile = {
  name: string
  type: string
  content: Uint8Array
  reading: FileReading
  text?: string
}

/** A parsed mail. */
export type ParsedMail = ParsedHead & {
  /** The text that a person sees: what the HTML shows, or else the plain text. */
  text: string
  /** Number of invisible pieces of text in the HTML, which are not in `text`. */
  hiddenPieces: number
  attachments: ParsedFile[]
}

/** Parses a mail, or returns why it is not taken. */
export async function parseMail(
  raw: Uint8Array,
  limits: MailLimits = mailLimits,
): Promise<ParsedMail | { refused: MailRefusal }> {
  const parts = await parseParts(withReadableHead(raw), limits)
  if ('refused' in parts) return parts
  const { texts, loose, files, ...head } = parts
  const shown = texts.length > 0 ? texts.map(shownOf) : [shownOf([plainPart(loose)])]
  return {
    ...head,
    text: shown.map(({ text }) => text).join('\n'),
    hiddenPieces: shown.reduce((sum, one) => sum + one.hiddenPieces, 0),
    attachments: [...files.map(fileOf), ...shown.flatMap(({ unreadable }) => unreadable)],
  }
}

/** Returns a mail whose headers are in UTF-8, also if they were in another charset without being encoded. */
function withReadableHead(raw: Uint8Array): Uint8Array {
  const head = raw.subarray(0, headOf(raw).length)
  const isPlain = head.every((byte) => byte < 128)
  // A byte order mark stays where it is: without it, another line could become a header.
  const text = isPlain || (head[0] ?? 0) > 127 ? undefined : decodeText(head)
  if (text === undefined) return raw
  const readable = new TextEncoder().encode(text)
  const whole = new Uint8Array(readable.length + raw.length - head.length)
  whole.set(readable)
  whole.set(raw.subarray(head.length), readable.length)
  return whole
}

const plainPart = (content: Uint8Array): TextPart => ({
  isHtml: false,
  content,
  charset: undefined,
  flowed: undefined,
})

/** Returns what a person sees of parts that say the same. Those in no known charset are files. */
function shownOf(parts: readonly TextPart[]) {
  const read = parts.map((part) => ({ ...part, text: decodeText(part.content, part.charset) }))
  const unreadable = read.flatMap(({ text, content }): ParsedFile[] =>
    text === undefined
      ? [{ name: '', type: 'application/octet-stream', content, reading: 'bytes' }]
      : [],
  )
  const html = read.filter(({ isHtml }) => isHtml).map(({ text = '' }) => htmlText(text))
  const seen = html.map(({ text }) => text).join('\n')
  const plain = read.filter(({ isHtml }) => !isHtml).map(unflowed)
  const hiddenPieces = html.reduce((sum, one) => sum + one.hiddenPieces, 0)
  return { text: seen.trim() === '' ? plain.join('\n') : seen, hiddenPieces, unreadable }
}

/** Joins the lines that were broken for their length. A line of two dashes begins a signature. */
function unflowed({
  text = '',
  flowed,
}: {
  text?: string | undefined
  flowed: TextPart['flowed']
}) {
  if (flowed === undefined) return text
  return text.replaceAll(/^ /gm, '').replaceAll(/(?<!^--) \r?\n(?:>[> ]*)?/gm, flowed)
}

function fileOf({ filename, mimeType, content }: Attachment): ParsedFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const name = visibleLine(filename ?? '').slice(0, 200)
  const file = new Uint8Array(bytes)
  const type = mimeType.toLowerCase()
  return { name, type, content: file, ...readFile(name, type, file) }
}
