/** The borders of mail out: who asks for delivery, and who carries a mail away. */

/** The mailer as other functions reach it; they only tell it that something waits. */
export type MailerPort = {
  /** Sends what waits in the outbox now. */
  deliver(): Promise<void>
  /** Throws where it lacks a setting, or the database does not take its token. */
  ready(): Promise<void>
}

/** One mail on its way; equal in every try, so that a repeat can be known as one. */
export type Outgoing = {
  id: string
  /** An address, or a name with an address in angle brackets. */
  from: string
  to: string
  subject: string
  text: string
  html: string
  createdAt: Date
  /** Further headers by their names, ASCII, as `replyTo` gives them. */
  headers?: Readonly<Record<string, string>>
}

/** Why a mail was not taken. */
export type Failure = {
  reason: string
  /** It would be refused again, whenever it is tried. */
  forGood: boolean
  /** It says nothing about this mail: the server takes none now. */
  outage: boolean
}

/** Hands one mail over; nothing when it was taken. It may throw when its neighbour is broken. */
export type MailTransport = (mail: Outgoing) => Promise<Failure | undefined>
