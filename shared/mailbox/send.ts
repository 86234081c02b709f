/**
 * Sends mail from an account's own address. A mail is entered once, together with a sealed copy for
 * each recipient, which the mailer then sends. An agent cannot send what it may not read: it holds only
 * handles, and the subject of an answer leaves codes out.
 */
import * as z from 'zod'
import { fail, type Refusal } from '../contract/errors.ts'
import { bindCredential } from '../db/database.ts'
import { sha256Hex } from '../digest.ts'
import { canonicalEmail, isAddress } from '../mail/address.ts'
import { messageIdOf, ownMailIdOf, sealForOutbox } from '../mail/outbox.ts'
import { visibleLine } from '../text/untrusted.ts'
import { catchRefusal } from '../vault/answering.ts'
import type { VaultContext } from '../vault/room.ts'
import { aliasOf } from './address.ts'
import { sealPlaces } from './codes/code-places.ts'
import { type MailBody, unmarked } from './kept-mail.ts'
import type { MailboxPort, MailOrder, SentMail } from './port.ts'
import { idsToName } from './read/news.ts'
import { type MailRow, mailRow, openBody, openHead, type Reader, readerRow } from './read/row.ts'
import { type Reply, replyTo } from './read/thread.ts'
import { agentMail, seesCodes } from './read/view.ts'
import { ensureMailKey } from './receive/first-key.ts'
import { sealMail } from './receive/seal-mail.ts'

const begun = z.object({
  reader: readerRow,
  mail_row: mailRow.nullable(),
  sealed_body: z.unknown(),
})
const sent = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('sent'), id: z.uuid(), at: z.coerce.date() }),
  z.object({ outcome: z.literal('loop') }),
])

/** The values that an answer takes from the mail that it answers. */
type Thread = {
  reply: Reply
  to: string[]
  /** True if the address of its author contains a code that the sender may not read. */
  isSealed: boolean
  /** Ids of mails of this service in the thread. */
  before: string[]
  isOfMachine: boolean
}

/** The mail that is answered, and who shall have the answer if the order says so. */
type Answered = { row: MailRow; sealed: unknown; to: readonly string[] | undefined }

type Draft = { to: string[]; subject: string; text: string; thread: Thread | undefined }

/** Opens the part of the vault that sends mail. */
export function sendingOfMail(context: VaultContext): Pick<MailboxPort, 'sendMail'> {
  return {
    sendMail: (credential, order) => catchRefusal(() => sendMail(context, credential, order)),
  }
}

/** Enters a mail to be sent, or returns why not. */
async function sendMail(
  context: VaultContext,
  credential: string,
  order: MailOrder,
): Promise<SentMail | Refusal> {
  const db = bindCredential(context.world.db, credential)
  const { answered, claim } = order
  const found = await db.one('begin_mail', { answered: answered ?? null }, begun)
  if (!found) throw new Error('the database told of no account')
  const { reader, mail_row: row } = found
  if (answered !== undefined && !row) return fail('mail_not_found')
  const thread = row
    ? threadOf(context, reader, { row, sealed: found.sealed_body, to: order.to })
    : undefined
  const draft = { ...order, ...addressed(order, thread), thread }
  const refused = draftProblem(draft, (to) => aliasOf(context.world.config, to) === reader.alias)
  if (refused) return refused
  const { from, ...written } = await write(context, reader, draft)
  const entered = await db.one(
    'send_mail',
    { ...written, before: thread?.before ?? [], claim },
    sent,
  )
  if (entered?.outcome !== 'sent') return refuseDraft('This thread has become a loop of machines.')
  context.mailSoon()
  return {
    mail_id: entered.id,
    at: entered.at.toISOString(),
    from,
    subject: draft.subject,
    deliveries: draft.to.map((to) => ({ to, status: 'queued' })),
  }
}

function threadOf(context: VaultContext, reader: Reader, { row, sealed, to }: Answered): Thread {
  const domain = context.world.config.MAIL_DOMAIN
  const head = openHead(context, reader, row)
  const { subject, address = unmarked(row.from_address) } = head
  const body = openBody(context, reader, row, sealed)
  const isOurs = row.direction === 'out'
  const isSealed = address.places.length > 0 && !seesCodes(reader, row)
  const known = isOurs ? row.deliveries.map((one) => one.to) : isSealed ? [] : [address.text]
  const messageId = isOurs ? messageIdOf(domain, row.id) : body.messageId
  const { inReplyTo, references } = body
  const ids = { messageId, inReplyTo, references }
  const listed = isOurs ? [] : body.to.map((one) => canonicalEmail(one.address.text))
  const isToOthers =
    to?.some((one) => ![...known, ...listed].includes(canonicalEmail(one))) ?? false
  // Accounts of this service may answer each other. The database ends a thread that becomes too long.
  const isOfAccount =
    row.own_topic === null && aliasOf(context.world.config, row.from_address) !== undefined
  return {
    reply: replyTo({
      subject: sealPlaces(subject.text, subject.places, () => '…'),
      ...idsToName(ids, { domain, isToOthers }),
    }),
    to: known,
    isSealed,
    before: [messageId, inReplyTo, ...references].flatMap((id) => ownMailIdOf(domain, id) ?? []),
    isOfMachine: body.automatic && !isOfAccount,
  }
}

function addressed({ to, subject }: MailOrder, thread: Thread | undefined) {
  return {
    to: [...new Set((to ?? thread?.to ?? []).map(canonicalEmail))],
    subject: visibleLine(subject ?? thread?.reply.subject ?? ''),
  }
}

function draftProblem(
  { to, subject, thread }: Draft,
  isOwn: (address: string) => boolean,
): Refusal | undefined {
  if (thread?.isOfMachine)
    return refuseDraft('A program sent that mail by itself: nobody reads an answer.')
  if (to.length === 0 && thread?.isSealed)
    return refuseDraft(
      'The address of its author contains a code. Say in `to` who shall have the answer.',
    )
  if (to.length === 0)
    return refuseDraft('Say in `to` who shall have it, or which mail it answers.')
  if (!to.every(isAddress))
    return refuseDraft('A recipient is no address that mail can be sent to.')
  // Such a mail would come back to its sender and be refused as a loop.
  if (to.some(isOwn)) return refuseDraft('The account writes to itself: leave its own address out.')
  return subject === '' ? refuseDraft('A mail that answers none needs a subject.') : undefined
}

function refuseDraft(message: string): Refusal {
  return fail('mail_refused', { message })
}

async function write(context: VaultContext, reader: Reader, draft: Draft) {
  const { world } = context
  const { alias } = reader
  const { to, thread } = draft
  const domain = world.config.MAIL_DOMAIN
  const from = `${alias}@${domain}`
  const wrap = reader.wrap ?? (await ensureMailKey(context, alias, reader.account))
  const { mail } = sealMail(
    context,
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
      body: draftBody(draft),
      attachments: [],
      codes: [],
    },
  )
  const letter = agentMail({ id: mail.id, alias, domain, ...draft, reply: thread?.reply })
  const letters = await Promise.all(
    to.map((recipient) => sealForOutbox(world, { ...letter, to: recipient })),
  )
  return { from, mail, letters }
}

function draftBody({ to, text, thread }: Draft): MailBody {
  const { 'In-Reply-To': inReplyTo, References: references } = thread?.reply.headers ?? {}
  return {
    to: to.map((address) => ({ name: unmarked(''), address: unmarked(address) })),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    references: references?.split('\r\n ') ?? [],
    text: { ...unmarked(text), length: text.length },
    hiddenPieces: 0,
    attachments: [],
    flaws: [],
    automatic: false,
  }
}
