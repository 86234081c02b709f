/**
 * What the account's agents and its owner ask of the vault about mail. Each caller is told by the
 * database what it may see: an agent is given handles in the places of codes.
 */
import type * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import type { untrustedText } from '../contract/fields.ts'
import type { mailDelivery, mailFields } from '../contract/mail.ts'
import type { Verdict } from './authentication.ts'

type Fields<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>
type UntrustedText = z.output<typeof untrustedText>

/** A mail in a list, in the form of the wire. */
export type MailItem = Fields<typeof mailFields>

/** Which mails are meant; times are RFC 3339. */
export type MailFilters = {
  /** An address, or a domain with all below it. */
  from?: string | undefined
  /** Words of the subject as the caller is shown it. */
  subject?: string | undefined
  since?: string | undefined
}

/** A page of a list. */
export type MailQuestion = MailFilters & {
  limit: number
  /** Only what came before this number. */
  before: number | undefined
  until?: string | undefined
  unread: boolean
  direction?: 'in' | 'out' | undefined
}

/** One mail, its text from an offset on, and one of its files with it where that is asked for. */
export type MailChoice = { mail: string; attachment?: number | undefined; offset: number }

/** A file of a mail, as it came. */
export type MailFile = {
  type: string
  content: Uint8Array
  /** Who asked may see the codes in it. */
  showsCodes: boolean
}

/** A mail that was opened, in the form of the wire. */
export type OpenedMail = Omit<MailItem, 'untrusted'> & {
  authentication: { spf: Verdict; dkim: Verdict; dmarc: Verdict }
  to: string[]
  in_reply_to_mail_id: string | null
  automatic: boolean
  oddities: string[]
  attachments: {
    number: number
    type: string
    size: number
    withheld: boolean
    untrusted: { name: UntrustedText }
  }[]
  untrusted: MailItem['untrusted'] & { text: UntrustedText }
  /** Where its text goes on. */
  next_offset: number | null
}

/** A mail to send. */
export type MailOrder = {
  to?: string[] | undefined
  subject?: string | undefined
  text: string
  /** The mail that it answers. */
  answered?: string | undefined
  /** Under which it is entered once. */
  claim: string | null
}

/** A mail that was entered to go out. */
export type SentMail = {
  mail_id: string
  at: string
  from: string
  subject: string
  deliveries: z.output<typeof mailDelivery>[]
}

/** Mail as its account reads and writes it. */
export type MailboxPort = {
  /** A page of mails, newest first, for who may read. */
  listMails(
    credential: string,
    question: MailQuestion,
  ): Promise<{ mails: MailItem[]; next_cursor: string | null } | Refusal>
  readMail(
    credential: string,
    choice: MailChoice,
  ): Promise<{ mail: OpenedMail; file?: MailFile } | Refusal>
  /** The first mail that comes in, or came in since a time; null when none does in time. */
  waitForMail(
    credential: string,
    wanted: MailFilters & { timeoutSeconds: number },
  ): Promise<{ mail: MailItem | null } | Refusal>
  /** Enters a mail from the account's own address, for who may pay. */
  sendMail(credential: string, order: MailOrder): Promise<SentMail | Refusal>
}
