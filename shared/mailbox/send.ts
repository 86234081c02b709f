/**
 * Mail that goes out from an account's own address. It is entered once, together with a letter to
 * each recipient, after which the mailer sends it. What an agent may not read it cannot send either:
 * it never holds more than a handle, and the subject of an answer leaves codes out.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../contract/errors.ts'
import { bindCredential } from '../db/database.ts'
import { sha256Hex } from '../digest.ts'
import { canonicalEmail, isAddress } from '../mail/address.ts'
import { sealMail as sealLetter } from '../mail/outbox.ts'
import { messageIdOf, ownMessage } from '../mail/own-message.ts'
import { visibleLine } from '../mail/untrusted.ts'
import { answering } from '../vault/answering.ts'
import type { VaultRoom } from '../vault/room.ts'
import { aliasOf } from './address.ts'
import { agentMail } from './agent-mail.ts'
import { sealPlaces } from './code-places.ts'
import { firstKey } from './first-key.ts'
import type { MailBody } from './kept-mail.ts'
import type { MailboxPort, MailOrder, SentMail } from './port.ts'
import { type MailRow, mailRow, openBody, openHead, type Reader, readerRow } from './row.ts'
import { sealMail } from './seal-mail.ts'
import { type Reply, replyTo } from './thread.ts'

const begun = z.object({
  reader: readerRow,
  mail_row: mailRow.nullable(),
  sealed_body: z.unknown(),
})
const sent = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('sent'), id: z.uuid(), at: z.coerce.date() }),
  z.object({ outcome: z.literal('loop') }),
])

/** What a mail takes over from the one that it answers. */
type Thread = {
  reply: Reply
  to: string[]
  /** Mails of this service in the thread. */
  before: string[]
  isOfMachine: boolean
}

type Draft = { to: string[]; subject: string; text: string; thread: Thread | undefined }

/** The part of the vault that sends mail. */
export function sendingOfMail(room: VaultRoom): Pick<MailboxPort, 'sendMail'> {
  return { sendMail: (credential, order) => answering(() => sendMail(room, credential, order)) }
}

/** Enters a mail to be sent, or says why it is not. */
async function sendMail(
  room: VaultRoom,
  credential: string,
  order: MailOrder,
): Promise<SentMail | Refusal> {
  const db = bindCredential(room.world.db, credential)
  const { answered, claim } = order
  const found = await db.one('begin_mail', { answered: answered ?? null }, begun)
  if (!found) throw new Error('the database told of no account')
  const { reader, mail_row: row } = found
  if (answered !== undefined && !row) return fail('mail_not_found')
  const thread = row ? threadOf(room, reader, row, found.sealed_body) : undefined
  const draft = { ...order, ...addressed(order, thread), thread }
  const refused = problemOf(draft, (to) => aliasOf(room.world.config, to) === reader.alias)
  if (refused) return refused
  const { from, ...written } = await write(room, reader, draft)
  const entered = await db.one(
    'send_mail',
    { ...written, before: thread?.before ?? [], claim },
    sent,
  )
  if (entered?.outcome !== 'sent') return refusal('This thread has become a loop of machines.')
  room.mailSoon()
  return {
    mail_id: entered.id,
    at: entered.at.toISOString(),
    from,
    subject: draft.subject,
    deliveries: draft.to.map((to) => ({ to, status: 'queued' })),
  }
}

function threadOf(room: VaultRoom, reader: Reader, row: MailRow, sealed: unknown): Thread {
  const { config } = room.world
  const { subject } = openHead(room, reader, row)
  const body = openBody(room, reader, row, sealed)
  const isOurs = row.direction === 'out'
  const messageId = isOurs ? messageIdOf(config.MAIL_DOMAIN, row.id) : body.messageId
  const ids = [messageId, body.inReplyTo, ...body.references]
  // Two accounts here may write to each other; that it has an end is seen by the length of the thread.
  const isOfAccount = row.own_topic === null && aliasOf(config, row.from_address) !== undefined
  return {
    reply: replyTo({
      ...body,
      subject: sealPlaces(subject.text, subject.places, () => '…'),
      messageId,
      inReplyTo: body.inReplyTo,
    }),
    to: isOurs ? row.deliveries.map(({ to }) => to) : [row.from_address],
    before: ids.flatMap((id) => ownMessage(config.MAIL_DOMAIN, id) ?? []),
    isOfMachine: body.automatic && !isOfAccount,
  }
}

function addressed({ to, subject }: MailOrder, thread: Thread | undefined) {
  return {
    to: [...new Set((to ?? thread?.to ?? []).map(canonicalEmail))],
    subject: visibleLine(subject ?? thread?.reply.subject ?? ''),
  }
}

function problemOf(
  { to, subject, thread }: Draft,
  isOwn: (address: string) => boolean,
): Refusal | undefined {
  if (thread?.isOfMachine)
    return refusal('A program sent that mail by itself: nobody reads an answer.')
  if (to.length === 0) return refusal('Say in `to` who shall have it, or which mail it answers.')
  if (!to.every(isAddress)) return refusal('A recipient is no address that mail can be sent to.')
  // It would come back as a circle of mail, and so be refused.
  if (to.some(isOwn)) return refusal('The account writes to itself: leave its own address out.')
  return subject === '' ? refusal('A mail that answers none needs a subject.') : undefined
}

function refusal(message: string): Refusal {
  return fail('mail_refused', { message })
}

async function write(room: VaultRoom, reader: Reader, draft: Draft) {
  const { world } = room
  const { alias } = reader
  const { to, thread } = draft
  const domain = world.config.MAIL_DOMAIN
  const from = `${alias}@${domain}`
  const wrap = reader.wrap ?? (await firstKey(room, alias, reader.account))
  const { mail } = sealMail(
    room,
    { account: reader.account, wrap },
    {
      to: from,
      from,
      size: new TextEncoder().encode(draft.subject + draft.text).length,
      authentication: { spf: 'absent', dkim: 'absent', dmarc: 'absent', provenDomain: undefined },
      digest: await sha256Hex(world.newId()),
      isOwn: false,
      codeHosts: [],
      head: { name: unmarked(alias), subject: unmarked(draft.subject) },
      body: bodyOf(draft),
      attachments: [],
      codes: [],
    },
  )
  const letter = agentMail({ id: mail.id, alias, domain, ...draft, reply: thread?.reply })
  const letters = await Promise.all(
    to.map((recipient) => sealLetter(world, { ...letter, to: recipient })),
  )
  return { from, mail, letters }
}

function bodyOf({ to, text, thread }: Draft): MailBody {
  const { 'In-Reply-To': inReplyTo, References: references } = thread?.reply.headers ?? {}
  return {
    to: to.map((address) => ({ name: unmarked(''), address })),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    references: references?.split('\r\n ') ?? [],
    text: { ...unmarked(text), length: text.length },
    htmlText: { ...unmarked(''), length: 0 },
    hiddenPieces: 0,
    attachments: [],
    flaws: [],
    automatic: false,
  }
}

function unmarked(text: string) {
  return { text, places: [] }
}
