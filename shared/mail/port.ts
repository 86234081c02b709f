/** The interfaces of outgoing mail: one to ask for delivery, and one to hand over a mail. */

/** The mailer as other functions reach it. They only tell it that something waits. */
export type MailerPort = {
  /** Sends the mails that wait in the outbox now. */
  deliver(): Promise<void>
  /** Throws if a setting is missing or the database does not accept its token. */
  ready(): Promise<void>
}

/** One mail on its way. It is the same in every try, so that a repeat can be recognized. */
export type Outgoing = {
  id: string
  /** An address, or a name with an address in angle brackets. */
  from: string
  to: string
  subject: string
  text: string
  html: string
  createdAt: Date
  /** Further headers by name, in ASCII, in the form that `replyTo` returns. */
  headers?: Readonly<Record<string, string>>
}

/** The reason why a mail was not taken. */
export type Failure = {
  reason: string
  /** True if the mail would be refused again at any later try. */
  forGood: boolean
  /** True if the failure does not concern this mail: the server takes no mail at the moment. */
  outage: boolean
}

/** Hands one mail over. Returns undefined if it was taken; may throw if the server does not work. */
export type MailTransport = (mail: Outgoing) => Promise<Failure | undefined>
