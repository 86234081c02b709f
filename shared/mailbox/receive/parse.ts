/**
 * Reads a mail from the bytes that came over SMTP. It never throws: a mail is either read, with the
 * flaws that were noticed, or refused for one reason that its sender can be told. Everything read is a
 * stranger's word; `authentication.ts` says who really sent it.
 */
import PostalMime, { type Address, type Attachment, addressParser, type Email } from 'postal-mime'
import { isAddress } from '../../mail/address.ts'
import { visibleLine } from '../../text/untrusted.ts'
import { htmlText } from '../html/html-text.ts'
import { withShortLists } from './address-lists.ts'
import { decodeText } from './charset.ts'
import { type FileReading, readAttachment } from './file-text.ts'
import type { MailRefusal } from './parse-refusals.ts'
import {
  countLines,
  headOf,
  linesOf,
  type Structure,
  structureOf,
  type TextPart,
} from './parse-structure.ts'

/** The claimed author or recipient of a mail. */
export type Mailbox = { name: string; address: string }

/** A deviation of a mail from the rules that did not keep it from being read. */
export type MailFlaw =
  | 'no_date'
  | 'no_message_id'
  | 'text_outside_parts'
  | 'multipart_without_parts'
  | 'odd_headers'
  | 'recipients_cut'
  | 'references_cut'

/** The headers of a mail, and what deviates in the whole of it. */
export type ParsedHead = {
  from: Mailbox
  to: Mailbox[]
  subject: string
  /** Value of the Date header, as ISO 8601 in UTC. */
  date: string | undefined
  /** Message-IDs with their angle brackets. */
  messageId: string | undefined
  inReplyTo: string | undefined
  references: string[]
  /** All headers from the top, with names in lower case. */
  headers: { name: string; value: string }[]
  flaws: MailFlaw[]
}

/** A mail whose texts and files are not read yet. */
export type MailParts = ParsedHead & Pick<Structure, 'texts' | 'loose'> & { files: Attachment[] }

/** Limits of the whole mail. Sizes are in bytes. */
type MailLimits = {
  bytesMax: number
  headerBytesMax: number
  headerLinesMax: number
  linesMax: number
  partsMax: number
  depthMax: number
  attachmentsMax: number
}

/** The limits of a mailbox if no others are given. */
export const mailLimits: MailLimits = {
  bytesMax: 1024 * 1024,
  headerBytesMax: 128 * 1024,
  headerLinesMax: 5_000,
  /** The parser keeps each line separate until the end of its part, so a line costs more than its bytes. */
  linesMax: 20_000,
  partsMax: 50,
  depthMax: 10,
  attachmentsMax: 20,
}

const recipientsMax = 100
const referencesMax = 100
const messageIdPattern = /<[^<>\s\p{C}]+>/gu
const messageIdLengthMax = 902

/** Takes a mail apart, or returns why it is not taken. */
async function parseParts(
  raw: Uint8Array,
  limits: MailLimits = mailLimits,
): Promise<MailParts | { refused: MailRefusal }> {
  if (raw.length > limits.bytesMax) return { refused: 'too_large' }
  const { lines, delimiters } = countLines(raw)
  if (delimiters > limits.partsMax * 20) return { refused: 'too_many_parts' }
  if (lines > limits.linesMax) return { refused: 'too_many_lines' }
  const head = headOf(raw)
  // The parser does not count the ends of lines.
  const isLong = head.length > 2 * limits.headerBytesMax || linesOf(head) > limits.headerLinesMax
  const short = isLong ? undefined : withShortLists(raw, head)
  if (!short) return { refused: 'headers_too_large' }
  const parser = new PostalMime({
    maxNestingDepth: limits.depthMax,
    maxHeadersSize: limits.headerBytesMax,
    // A mail within the mail is a file, and never part of what this sender says.
    forceRfc822Attachments: true,
  })
  // Its own texts are not used, and making them takes as long as all the rest.
  Object.assign(parser, { renderTextContent: () => undefined })
  try {
    const mail = await parser.parse(short.raw)
    return readMessage(mail, { ...structureOf(parser, raw), isListCut: short.isCut }, limits)
  } catch (error) {
    return { refused: reasonOf(error) }
  }
}

/** Parses only the headers of a mail, which say who wrote it. That is cheap, whatever follows. */
export async function parseHead(
  raw: Uint8Array,
  limits: MailLimits = mailLimits,
): Promise<ParsedHead | { refused: MailRefusal }> {
  if (raw.length > limits.bytesMax) return { refused: 'too_large' }
  return parseParts(raw.subarray(0, headOf(raw).length), limits)
}

/** Maps an error of the parser to a reason. It gives only messages; an unknown one is a refusal too. */
function reasonOf(error: unknown): MailRefusal {
  const sentence = String(error)
  if (sentence.includes('nesting depth')) return 'too_deep'
  return sentence.includes('header size') ? 'headers_too_large' : 'unreadable'
}

/** The structure of a mail, and whether its lists of addresses were cut before they were parsed. */
type Shape = Structure & { isListCut: boolean }

function readMessage(
  mail: Email,
  structure: Shape,
  limits: MailLimits,
): MailParts | { refused: MailRefusal } {
  if (structure.parts > limits.partsMax) return { refused: 'too_many_parts' }
  if (mail.attachments.length > limits.attachmentsMax) return { refused: 'too_many_attachments' }
  const senders = mail.headers.filter(({ key }) => key === 'from')
  if (senders.length > 1) return { refused: 'several_senders' }
  const [from, another] = senders.flatMap(({ value }) => addressParser(value)).flatMap(mailboxesOf)
  if (another) return { refused: 'several_senders' }
  if (!from || !isAddress(from.address)) return { refused: 'no_sender' }
  const { texts, loose } = structure
  return {
    from,
    subject: visibleLine(mail.subject ?? ''),
    headers: mail.headers.map(({ key, value }) => ({ name: key, value })),
    ...referencesOf(mail, structure),
    texts,
    loose,
    files: mail.attachments,
  }
}

function messageIdsIn(text = ''): string[] {
  const ids = text.match(messageIdPattern) ?? []
  return ids.filter(({ length }) => length <= messageIdLengthMax)
}

function referencesOf(mail: Email, structure: Shape) {
  const recipients = [...(mail.to ?? []), ...(mail.cc ?? [])].flatMap(mailboxesOf)
  const references = messageIdsIn(mail.references)
  const [messageId] = messageIdsIn(mail.messageId)
  const isDated = /^\d{4}-.*Z$/.test(mail.date ?? '')
  const flaws: [MailFlaw, boolean][] = [
    ['no_date', !isDated],
    ['no_message_id', messageId === undefined],
    ['text_outside_parts', structure.isTextOutside],
    ['multipart_without_parts', structure.isEmptyMultipart],
    ['odd_headers', structure.hasOddHeaders],
    ['recipients_cut', structure.isListCut || recipients.length > recipientsMax],
    ['references_cut', references.length > referencesMax],
  ]
  return {
    to: recipients.slice(0, recipientsMax),
    date: isDated ? mail.date : undefined,
    messageId,
    inReplyTo: messageIdsIn(mail.inReplyTo)[0],
    references: references.slice(-referencesMax),
    flaws: flaws.flatMap(([flaw, isThere]) => (isThere ? [flaw] : [])),
  }
}

function mailboxesOf(address: Address): Mailbox[] {
  const members = address.group ?? [address]
  return members.map(({ name, address: text }) => ({
    name: visibleLine(name).slice(0, 200),
    address: visibleLine(text ?? ''),
  }))
}

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
  const decoded = parts.map((part) => ({
    ...part,
    text: decodeText(part.content, part.charset),
  }))
  const unreadable = decoded.flatMap(({ text, content }): ParsedFile[] =>
    text === undefined
      ? [{ name: '', type: 'application/octet-stream', content, reading: 'bytes' }]
      : [],
  )
  const html = decoded.filter(({ isHtml }) => isHtml).map(({ text = '' }) => htmlText(text))
  const seen = html.map(({ text }) => text).join('\n')
  const plain = decoded.filter(({ isHtml }) => !isHtml).map(unflowed)
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
  return { name, type, content: file, ...readAttachment(name, type, file) }
}
