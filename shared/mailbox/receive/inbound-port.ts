/** The interface through which the receiver of mail calls the vault. */
import type { Refusal } from '../../contract/errors.ts'
import type { MailBody, MailHead } from '../kept-mail.ts'
import type { MailAuthentication } from './authentication.ts'
import type { MailRefusal } from './parse-refusals.ts'

/** A mail that was read, on its way into the mailbox. */
export type IncomingMail = {
  /** The recipient of the envelope. */
  to: string
  /** Size in bytes as received. */
  size: number
  /** The author's address in lower case. */
  from: string
  authentication: MailAuthentication
  /** Identifies the mail when it comes again: 32 bytes in hex. */
  digest: string
  /** True if the author's address is one of this service's own, proven or not. */
  isOwn: boolean
  head: MailHead
  body: MailBody
  attachments: Uint8Array[]
  /** The hosts where its codes may be used. */
  codeHosts: string[]
  codes: { handle: string; kind: 'code' | 'link'; value: string }[]
}

/** The facts about a mail that are known before its text is read. */
export type IncomingHead = Pick<
  IncomingMail,
  'to' | 'size' | 'from' | 'authentication' | 'digest'
> & {
  /** The Message-ID with its angle brackets. */
  messageId: string | undefined
}

/** Takes incoming mail. */
export type InboundPort = {
  /** Returns true if mail is accepted for an address. */
  receives(address: string): Promise<boolean | Refusal>
  /**
   * Returns the origins of logins in use if there is room and the rate allows it, `kept` if the mail is here
   * already, or a refusal.
   */
  admits(
    head: IncomingHead,
  ): Promise<{ sitesInUse: string[] } | 'kept' | { refused: MailRefusal } | Refusal>
  /** Stores a whole mail, or returns why it is not taken. The same mail is stored once. */
  keep(mail: IncomingMail): Promise<'kept' | { refused: MailRefusal } | Refusal>
}
