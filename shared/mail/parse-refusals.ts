/** Why a mail is not taken, as its sender is told: RFC 3463 says what the numbers stand for. */

/** Each reason with the enhanced status code and the sentence of the SMTP reply. */
export const mailRefusals = {
  too_large: '5.3.4 The message is larger than this mailbox takes; send a smaller one',
  headers_too_large: '5.3.4 The headers of the message are too long',
  too_many_parts: '5.6.0 The message has too many parts; send fewer in one message',
  too_deep: '5.6.0 The parts of the message are nested too deep',
  too_many_attachments: '5.6.0 The message has too many attachments; send fewer in one message',
  no_sender: '5.6.0 The message has no From header with one plain address',
  several_senders: '5.6.0 The message names more than one author; send it as one',
  unreadable: '5.6.0 The message cannot be read as RFC 5322 and MIME',
} as const

/** A reason for which a mail is not taken. */
export type MailRefusal = keyof typeof mailRefusals
