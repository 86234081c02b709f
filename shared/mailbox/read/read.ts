/** Opens one mail for its reader. */
import * as z from 'zod'
import { decodeBase64 } from '../../base64.ts'
import { fail, type Refusal } from '../../contract/errors.ts'
import { bindCredential } from '../../db/database.ts'
import { isAddress } from '../../mail/address.ts'
import { ownMailIdOf } from '../../mail/outbox.ts'
import { untrusted } from '../../text/untrusted.ts'
import { catchRefusal } from '../../vault/answering.ts'
import type { VaultContext } from '../../vault/room.ts'
import { type MailBody, type MarkedText, textFileSchema } from '../kept-mail.ts'
import type { MailboxPort, MailChoice, MailFile, OpenedMail } from '../port.ts'
import { pageOf } from './news.ts'
import {
  type MailRow,
  mailRow,
  openBody,
  openHead,
  openPart,
  type Reader,
  readerRow,
} from './row.ts'
import { itemOf, seesCodes, textForReader } from './view.ts'

const found = z.object({ reader: readerRow, mail_row: mailRow, sealed_body: z.unknown() })
const sealedFile = z.object({ sealed: z.unknown() })

const recipientsShownMax = 20
const nameLengthMax = 200

/** Types that are shown for a file. A type is a stranger's word, so others are not passed on. */
const typesShown = `text/plain text/html text/csv text/calendar text/xml message/rfc822
  application/json application/pdf application/xml application/zip
  image/gif image/jpeg image/png image/svg+xml image/webp`.split(/\s+/)

/** Opens the part of the vault that reads a mail. */
export function viewsOfMail(context: VaultContext): Pick<MailboxPort, 'readMail'> {
  return {
    readMail: (credential, choice) => catchRefusal(() => openMail(context, credential, choice)),
  }
}

/** Opens a mail of the caller's and one of its files, without anything that the caller may not see. */
async function openMail(
  context: VaultContext,
  credential: string,
  { mail, attachment, offset }: MailChoice,
): Promise<{ mail: OpenedMail; file?: MailFile } | Refusal> {
  const db = bindCredential(context.world.db, credential)
  const kept = await db.one('read_mail', { mail }, found)
  if (!kept) return fail('mail_not_found')
  const { reader, mail_row: row } = kept
  const body = openBody(context, reader, row, kept.sealed_body)
  const opened = openedMail(context, { reader, row, body }, offset)
  if (attachment === undefined) return { mail: opened }
  const listed = opened.attachments[attachment - 1]
  const file = listed && (await db.one('mail_attachment', { mail, file: attachment }, sealedFile))
  if (!file || listed.withheld) {
    return fail('mail_not_found', { message: 'The mail has no such attachment that you may open.' })
  }
  const content = openPart(context, reader, row, `attachment/${attachment}`, file.sealed)
  if (body.attachments[attachment - 1]?.reading !== 'text')
    return { mail: opened, file: { content } }
  return { mail: opened, file: textFileOf(content, seesCodes(reader, row)) }
}

/** Opens a file that is read as text. Only who sees its codes gets its bytes too. */
function textFileOf(record: Uint8Array, showsCodes: boolean): MailFile {
  const { content, text } = textFileSchema.parse(JSON.parse(new TextDecoder().decode(record)))
  return {
    content: showsCodes ? decodeBase64(content) : new Uint8Array(),
    text: textForReader(text, showsCodes, true),
  }
}

type StoredMail = { reader: Reader; row: MailRow; body: MailBody }

function openedMail(
  context: VaultContext,
  { reader, row, body }: StoredMail,
  offset: number,
): OpenedMail {
  const { spf, dkim, dmarc } = row
  const item = itemOf(openHead(context, reader, row), reader, row)
  const { from } = item.untrusted.subject
  const showsCodes = seesCodes(reader, row)
  const show = (text: MarkedText) => textForReader(text, showsCodes)
  const whole = body.text
  const notKept = whole.length - whole.text.length
  const { page, next } = pageOf(
    { from, text: textForReader(whole, showsCodes, true), notKept },
    offset,
  )
  return {
    ...item,
    authentication: { spf, dkim, dmarc },
    to: body.to
      .filter(({ address }) => isAddress(address.text))
      .slice(0, recipientsShownMax)
      .map(({ address }) => show(address)),
    in_reply_to_mail_id: answeredBy(context, body),
    automatic: body.automatic,
    oddities: [...body.flaws, ...(body.hiddenPieces > 0 ? ['hidden_text'] : [])],
    attachments: body.attachments.map(({ name, type, size, reading }, at) => ({
      number: at + 1,
      type: typeShown(type),
      size,
      withheld: !showsCodes && reading === 'withheld',
      untrusted: { name: untrusted({ from, text: show(name) }, nameLengthMax) },
    })),
    untrusted: { ...item.untrusted, text: page },
    next_offset: next,
  }
}

/** Returns the type to show. Text remains text, because files of text are searched for codes. */
function typeShown(type: string): string {
  const lower = type.toLowerCase()
  if (typesShown.includes(lower)) return lower
  return lower.startsWith('text/') ? 'text/plain' : 'application/octet-stream'
}

/** Returns the id of this service's mail that a mail says it answers. */
function answeredBy({ world }: VaultContext, { inReplyTo, references }: MailBody): string | null {
  const ids = [...references, inReplyTo].map((id) => ownMailIdOf(world.config.MAIL_DOMAIN, id))
  return ids.findLast((id) => id !== null) ?? null
}
