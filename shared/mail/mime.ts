/**
 * Builds a mail as it is sent over SMTP (RFC 5322, RFC 2046). Bodies are base64, so that no line is too
 * long, begins with a dot or ends the message. A value that would make more than one header throws.
 */
import { encodeText } from '../base64.ts'
import { messageIdOf } from './outbox.ts'
import type { Outgoing } from './port.ts'

/** Characters per line of base64 (RFC 2045 section 6.8). */
const lineLength = 76
/** The line break that continues a header on the next line (RFC 5322 section 2.2.3). */
const folding = '\r\n '

/**
 * Returns the whole message. Headers of the mail override the default ones, except MIME-Version and
 * Content-Type. `domain` makes the Message-ID unique.
 */
export function mimeMessage(mail: Outgoing, domain: string): string {
  const boundary = `mail-${mail.id}`
  const headers = {
    From: mail.from,
    To: mail.to,
    Subject: encodedWords(mail.subject),
    Date: mail.createdAt.toUTCString().replace('GMT', '+0000'),
    'Message-ID': messageIdOf(domain, mail.id),
    // Asks recipients to send no automatic reply (RFC 3834).
    'Auto-Submitted': 'auto-generated',
    ...mail.headers,
    'MIME-Version': '1.0',
    'Content-Type': `multipart/alternative; boundary="${boundary}"`,
  }
  return [
    ...Object.entries(headers).map(([name, value]) => headerLine(name, value)),
    '',
    ...part(boundary, 'plain', mail.text),
    ...part(boundary, 'html', mail.html),
    `--${boundary}--`,
    '',
  ].join('\r\n')
}

function headerLine(name: string, value: string): string {
  const isOne = value.split(folding).every((line) => /^[ -~]*$/.test(line))
  if (!isOne) throw new Error(`${name} is not one header of ASCII`)
  return `${name}: ${value}`
}

function part(boundary: string, kind: 'plain' | 'html', text: string): string[] {
  return [
    `--${boundary}`,
    `Content-Type: text/${kind}; charset=utf-8`,
    'Content-Transfer-Encoding: base64',
    '',
    ...(encodeText(text).match(new RegExp(`.{1,${lineLength}}`, 'g')) ?? []),
  ]
}

/** Encodes text that is not plain ASCII as encoded words of at most 75 characters each (RFC 2047). */
function encodedWords(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  // 10 characters are at most 40 bytes of UTF-8, which are 56 characters of base64 in one encoded word.
  const pieces = text.match(/.{1,10}/gsu) ?? []
  return pieces.map((piece) => `=?utf-8?B?${encodeText(piece)}?=`).join(folding)
}
