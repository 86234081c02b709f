/**
 * The interface through which an account's agents and its owner call the vault about mail. The database
 * decides what each caller may see: an agent gets handles in place of codes.
 */
import type * as z from 'zod'
import type { Refusal } from '../contract/errors.ts'
import type { untrustedText } from '../contract/fields.ts'
import type { mailDelivery, mailFields } from '../contract/mail.ts'
import type { Verdict } from './receive/authentication.ts'

type Fields<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>
type UntrustedText = z.output<typeof untrustedText>

/** A mail in a list, as it is sent over the wire. */
export type MailItem = Fields<typeof mailFields>

/** Conditions for mails. Times are RFC 3339. */
export type MailFilters = {
  /** An address, or a domain including all its subdomains. */
  from?: string | undefined
  /** Words of the subject as the caller sees it. */
  subject?: string | undefined
  since?: string | undefined
}

/** A request for a page of a list. */
export type MailQuestion = MailFilters & {
  limit: number
  /** Only mails with a lower number than this. */
  before: number | undefined
  until?: string | undefined
  unread: boolean
  direction?: 'in' | 'out' | undefined
}

/** A request for one mail, its text from an offset, and optionally one of its files. */
export type MailChoice = { mail: string; attachment?: number | undefined; offset: number }

/** A file of a mail as it was received. */
export type MailFile = {
  /** Empty for an agent where there is a text, in which codes are sealed. */
  content: Uint8Array
  text?: string
}

/** An opened mail, as it is sent over the wire. */
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
  /** Offset at which its text continues. */
  next_offset: number | null
}

/** A mail to send. */
export type MailOrder = {
  to?: string[] | undefined
  subject?: string | undefined
  text: string
  /** The id of the mail that it answers. */
  answered?: string | undefined
  /** Idempotency claim under which it is entered once. */
  claim: string | null
}

/** A mail that was entered for sending. */
export type SentMail = {
  mail_id: string
  at: string
  from: string
  subject: string
  deliveries: z.output<typeof mailDelivery>[]
}

/** Mail as its account reads and writes it. */
export type MailboxPort = {
  /** Returns a page of mails, newest first. The caller needs the scope to read. */
  listMails(
    credential: string,
    question: MailQuestion,
  ): Promise<{ mails: MailItem[]; next_cursor: string | null } | Refusal>
  readMail(
    credential: string,
    choice: MailChoice,
  ): Promise<{ mail: OpenedMail; file?: MailFile } | Refusal>
  /** Returns the first mail that arrives, or arrived since a time; null if none does before the timeout. */
  waitForMail(
    credential: string,
    wanted: MailFilters & { timeoutSeconds: number },
  ): Promise<{ mail: MailItem | null } | Refusal>
  /** Enters a mail from the account's own address. The caller needs the scope to pay. */
  sendMail(credential: string, order: MailOrder): Promise<SentMail | Refusal>
}

/** News by credential, shared by all waits of one isolate. */
export type MailNews = {
  /** Number of waits for each credential. */
  waiting: Map<string, number>
  /** Number of the newest mail, as last reported; null for a credential that is out of service. */
  newest: ReadonlyMap<string, number | null>
  /** Time of the last question to the database. */
  askedMilliseconds: number
}
