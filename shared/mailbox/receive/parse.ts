/**
 * Reads a mail from the bytes that came over SMTP. It never throws: a mail is either read, with the
 * flaws that were noticed, or refused for one reason that its sender can be told. Everything read is a
 * stranger's word; `authentication.ts` says who really sent it.
 */
import type { Address, Attachment, Email } from 'postal-mime'
import PostalMime, { addressParser } from 'postal-mime'
import { isAddress } from '../../mail/address.ts'
import { visibleLine } from '../../mail/untrusted.ts'
import { withShortLists } from './address-lists.ts'
import type { MailRefusal } from './parse-refusals.ts'
import type { Structure } from './parse-structure.ts'
import { countLines, headOf, linesOf, structureOf } from './parse-structure.ts'

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
export type MailLimits = {
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
export async function parseParts(
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
    return read(mail, { ...structureOf(parser, raw), isListCut: short.isCut }, limits)
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

function read(
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
