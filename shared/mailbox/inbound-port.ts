/** What the receiver of mail asks of the vault. */
import type { Refusal } from '../contract/errors.ts'
import type { MailAuthentication } from './authentication.ts'
import type { MailBody, MailHead } from './kept-mail.ts'
import type { MailRefusal } from './parse-refusals.ts'

/** A mail that was read, on its way into the mailbox. */
export type IncomingMail = {
  /** The recipient of the envelope. */
  to: string
  /** Bytes as it came. */
  size: number
  /** The author's address in lower case. */
  from: string
  authentication: MailAuthentication
  /** Names the mail when it comes again: 32 bytes in hex. */
  digest: string
  /** It is from this service itself, or says so. */
  isOwn: boolean
  head: MailHead
  body: MailBody
  attachments: Uint8Array[]
  /** Where its codes may be used. */
  codeHosts: string[]
  codes: { handle: string; kind: 'code' | 'link'; value: string }[]
}

/** What is known of a mail before its text is read. */
export type IncomingHead = Pick<
  IncomingMail,
  'to' | 'size' | 'from' | 'authentication' | 'digest'
> & {
  /** With its angle brackets. */
  messageId: string | undefined
}

/** Takes mail that came in. */
export type InboundPort = {
  /** Whether mail is taken for an address. */
  receives(address: string): Promise<boolean | Refusal>
  /** Whether there is a place for a mail and it is its sender's turn, or why it is not read. */
  admits(head: IncomingHead): Promise<'open' | 'kept' | { refused: MailRefusal } | Refusal>
  /** Keeps a mail in full, or says why it is not taken; the same mail is kept once. */
  keep(mail: IncomingMail): Promise<'kept' | { refused: MailRefusal } | Refusal>
}
