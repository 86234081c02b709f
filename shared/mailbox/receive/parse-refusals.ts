/**
 * The reasons why a mail is not taken, as its sender is told. The codes are those of RFC 5321 and RFC
 * 3463: with a 4 the mail may be sent again later, with a 5 it would be refused again.
 */

/** Each reason with its SMTP reply. */
export const mailRefusals = {
  unknown_recipient: '550 5.1.1 There is no such mailbox here',
  mailbox_full: '552 5.2.2 The mailbox is full',
  too_large: '552 5.3.4 The message is larger than this mailbox takes; send a smaller one',
  headers_too_large: '552 5.3.4 The headers of the message are too long',
  loop: '554 5.4.6 The message goes in a circle',
  too_many_parts: '554 5.6.0 The message has too many parts; send fewer in one message',
  too_many_lines: '554 5.6.0 The message has too many lines; send it as a file',
  too_deep: '554 5.6.0 The parts of the message are nested too deep',
  too_many_attachments: '554 5.6.0 The message has too many attachments; send fewer in one message',
  no_sender: '554 5.6.0 The message has no From header with one plain address',
  several_senders: '554 5.6.0 The message names more than one author; send it as one',
  unreadable: '554 5.6.0 The message cannot be read as RFC 5322 and MIME',
  too_many: '451 4.7.1 Too many messages for this mailbox lately; send it again later',
  unavailable: '451 4.3.0 The mailbox cannot be reached right now; send it again later',
} as const

/** A reason why a mail is not taken. */
export type MailRefusal = keyof typeof mailRefusals

/** Returns true if the same mail may be accepted when it is sent again later. */
export function isTemporary(refused: MailRefusal): boolean {
  return mailRefusals[refused].startsWith('4')
}
