/** The two borders of mail out: who asks for delivery, and who carries a mail away. */

/** The mailer as other functions reach it; they only tell it that something waits. */
export type MailerPort = {
  /** Sends what waits in the outbox now. */
  deliver(): Promise<void>
}
