/**
 * Reads a mail from its bytes as they came over SMTP. It never throws: a mail is read, with the flaws
 * that were noticed, or refused for one reason that its sender can be told. What is read is a
 * stranger's word; who really sent it is for `authentication.ts`.
 */
import type { Address, Attachment, Email } from 'postal-mime'
import PostalMime, { addressParser } from 'postal-mime'
import { isAddress } from '../mail/address.ts'
import { visibleLine } from '../mail/untrusted.ts'
import { isEnclosedMail } from './enclosed-mail.ts'
import { htmlText } from './html-text.ts'
import type { MailRefusal } from './parse-refusals.ts'
import type { Structure } from './parse-structure.ts'
import { countLines, structureOf } from './parse-structure.ts'

/** Who a mail is said to be from or to. */
export type Mailbox = { name: string; address: string }

/** What of a mail is not as it should be, and could be read all the same. */
export type MailFlaw =
  | 'no_date'
  | 'no_message_id'
  | 'text_outside_parts'
  | 'multipart_without_parts'
  | 'odd_headers'
  | 'recipients_cut'
  | 'references_cut'

/** A mail as it was read. */
export type ParsedMail = {
  from: Mailbox
  to: Mailbox[]
  subject: string
  /** Of the Date header, as ISO 8601 in UTC. */
  date: string | undefined
  /** With their angle brackets. */
  messageId: string | undefined
  inReplyTo: string | undefined
  references: string[]
  text: string
  /** What a person would see of the HTML. */
  htmlText: string
  /** Pieces of text in the HTML that nobody would see, and that are not in `htmlText`. */
  hiddenPieces: number
  attachments: { name: string; type: string; size: number; content: Uint8Array }[]
  /** All headers from the top, names in lower case. */
  headers: { name: string; value: string }[]
  flaws: MailFlaw[]
}

/** Sizes in bytes over the whole mail. */
export type MailLimits = {
  bytesMax: number
  headerBytesMax: number
  linesMax: number
  partsMax: number
  depthMax: number
  attachmentsMax: number
}

/** What a mailbox takes where nothing else is said. */
export const mailLimits: MailLimits = {
  bytesMax: 1024 * 1024,
  headerBytesMax: 128 * 1024,
  /** The parser keeps each line apart until the end of its part. */
  linesMax: 60_000,
  partsMax: 50,
  depthMax: 10,
  attachmentsMax: 20,
}

const recipientsMax = 100
const referencesMax = 100
const messageIdPattern = /<[^<>\s\p{C}]+>/gu
const messageIdLengthMax = 902

/** Reads a mail, or says why it is not taken. */
export async function parseMail(
  raw: Uint8Array,
  limits: MailLimits = mailLimits,
): Promise<ParsedMail | { refused: MailRefusal }> {
  if (raw.length > limits.bytesMax) return { refused: 'too_large' }
  const { lines, delimiters } = countLines(raw)
  if (delimiters > limits.partsMax * 20) return { refused: 'too_many_parts' }
  if (lines > limits.linesMax) return { refused: 'too_many_lines' }
  const parser = new PostalMime({
    maxNestingDepth: limits.depthMax,
    maxHeadersSize: limits.headerBytesMax,
    // A mail within the mail is a file to look at, never part of what this sender says.
    forceRfc822Attachments: true,
  })
  try {
    const mail = await parser.parse(raw)
    return read(mail, structureOf(parser, raw), limits)
  } catch (error) {
    return { refused: reasonOf(error) }
  }
}

/**
 * Reads only what stands above the text of a mail, which tells who wrote it: cheap, whatever follows.
 * The texts and files of what it answers are empty.
 */
export async function parseHead(
  raw: Uint8Array,
  limits: MailLimits = mailLimits,
): Promise<ParsedMail | { refused: MailRefusal }> {
  if (raw.length > limits.bytesMax) return { refused: 'too_large' }
  const head = raw.subarray(0, headLength(raw))
  // Its lines' ends are not counted by the parser.
  if (head.length > 2 * limits.headerBytesMax) return { refused: 'headers_too_large' }
  return parseMail(head, limits)
}

/** Up to the first empty line. */
function headLength(raw: Uint8Array): number {
  for (let at = 0; at < raw.length; at += 1) {
    const next = raw[at + 1] === 13 ? raw[at + 2] : raw[at + 1]
    if (raw[at] === 10 && next === 10) return at + 1
  }
  return raw.length
}

/** The parser has sentences only; another one is still a refusal. */
function reasonOf(error: unknown): MailRefusal {
  const sentence = String(error)
  if (sentence.includes('nesting depth')) return 'too_deep'
  return sentence.includes('header size') ? 'headers_too_large' : 'unreadable'
}

function read(
  mail: Email,
  structure: Structure,
  limits: MailLimits,
): ParsedMail | { refused: MailRefusal } {
  if (structure.parts > limits.partsMax) return { refused: 'too_many_parts' }
  if (mail.attachments.length > limits.attachmentsMax) return { refused: 'too_many_attachments' }
  const senders = mail.headers.filter(({ key }) => key === 'from')
  const [from, another] = senders.flatMap(({ value }) => addressParser(value)).flatMap(mailboxesOf)
  if (another || senders.length > 1) return { refused: 'several_senders' }
  if (!from || !isAddress(from.address)) return { refused: 'no_sender' }
  return { from, ...contentOf(mail, structure), ...referencesOf(mail, structure) }
}

function contentOf(mail: Email, { loose }: Structure) {
  const { text: htmlTextRead, hiddenPieces } = htmlText(mail.html ?? '')
  return {
    subject: visibleLine(mail.subject ?? ''),
    // What no part holds is better read than lost.
    text: mail.text ?? (mail.html === undefined ? loose : ''),
    htmlText: htmlTextRead,
    hiddenPieces,
    attachments: mail.attachments.map(attachmentOf),
    headers: mail.headers.map(({ key, value }) => ({ name: key, value })),
  }
}

function attachmentOf({ filename, mimeType, content }: Attachment) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const name = visibleLine(filename ?? '').slice(0, 200)
  const file = new Uint8Array(bytes)
  const type = isEnclosedMail(name, file) ? 'message/rfc822' : mimeType
  return { name, type, size: file.length, content: file }
}

function messageIdsIn(text = ''): string[] {
  const ids = text.match(messageIdPattern) ?? []
  return ids.filter(({ length }) => length <= messageIdLengthMax)
}

function referencesOf(mail: Email, structure: Structure) {
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
    ['recipients_cut', recipients.length > recipientsMax],
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
