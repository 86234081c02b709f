/**
 * A mail as it travels over SMTP (RFC 5322, RFC 2046). Bodies are base64, so no line of theirs is too
 * long, begins with a dot or ends the message. It refuses a header that would be more than one line.
 */
import { encodeText } from '../base64.ts'
import { messageIdOf } from './own-message.ts'
import type { Outgoing } from './port.ts'

/** RFC 2045 section 6.8. */
const lineLength = 76
/** What makes a further line a part of the same header (RFC 5322 section 2.2.3). */
const folding = '\r\n '

/**
 * The whole message with its headers, of which those of the mail itself count; `domain` is where its
 * Message-ID is unique.
 */
export function mimeMessage(mail: Outgoing, domain: string): string {
  const boundary = `mail-${mail.id}`
  const headers = {
    From: mail.from,
    To: mail.to,
    Subject: encodedWords(mail.subject),
    Date: mail.createdAt.toUTCString().replace('GMT', '+0000'),
    'Message-ID': messageIdOf(domain, mail.id),
    // RFC 3834: nobody's automatic reply is wanted.
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

/** RFC 2047: a text that is not plain ASCII as encoded words of at most 75 characters each. */
function encodedWords(text: string): string {
  if (/^[ -~]*$/.test(text)) return text
  // 10 characters are at most 40 bytes of UTF-8, so 56 of base64 in a word.
  const pieces = text.match(/.{1,10}/gsu) ?? []
  return pieces.map((piece) => `=?utf-8?B?${encodeText(piece)}?=`).join(folding)
}
