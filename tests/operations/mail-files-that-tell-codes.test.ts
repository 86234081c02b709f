/**
 * A code is sealed however the mail is composed. Each of these mails has its code in plain words in a
 * text part, and none is a picture, a document, an archive or encoded a second time.
 */
import { expect, test } from 'vitest'
import { receiveMail } from '../../shared/mailbox/receive/receive.ts'
import { mailboxOf } from '../support/mailbox.ts'
import { randomUUID } from '../support/seed.ts'
import { mailDomain, start } from '../support/world.ts'

const product = await start()
const { world } = product
const code = '482913'

/** Returns all that an agent can read of the newest mail, with bytes decoded and markup removed. */
async function readAll(raw: string | Buffer) {
  const agent = await product.agent('pay')
  const box = mailboxOf(product, agent)
  const bytes = new Uint8Array(typeof raw === 'string' ? Buffer.from(raw) : raw)
  const envelope = { envelopeFrom: 'a@shop.example', envelopeTo: box.address }
  expect(await receiveMail(world, { ...envelope, raw: bytes })).toBe('kept')
  const mail = await box.newest()
  const files = await Promise.all(
    mail.attachments.map(async ({ number, withheld }) => {
      if (withheld) return ''
      const file = await box.read(mail.mail_id, { attachment: String(number) })
      const bytes = Buffer.from(file.content_base64 ?? '', 'base64')
      return `${file.untrusted.attachment?.text ?? ''} ${bytes.toString('latin1')}`
    }),
  )
  const told = [JSON.stringify(await box.list()), JSON.stringify(mail), ...files].join('\n')
  const plain = told.replaceAll('\0', '').replaceAll('\\n', '\n')
  return [told, plain, plain.replaceAll(/<[^>]*>|\s+/g, ''), plain.replaceAll(/\r?\n[ \t]/g, '')]
}

const head = (type: string, subject = 'Your sign-in code') =>
  `Authentication-Results: mx.${mailDomain}; spf=pass smtp.mailfrom=shop.example\r
From: Shop <no-reply@shop.example>\r\nTo: a@${mailDomain}\r\nSubject: ${subject}\r
Date: ${new Date().toUTCString()}\r\nMessage-ID: <${randomUUID()}@shop.example>\r
MIME-Version: 1.0\r\nContent-Type: ${type}\r\n\r\n`

const part = (type: string, content: string, more = '') =>
  `--b\r\nContent-Type: ${type}\r\n${more}\r\n${content}\r\n`
const mixed = (...parts: string[]) =>
  `${head('multipart/mixed; boundary=b')}${part('text/plain', 'Your code is in the file.')}${parts.join('')}--b--\r\n`
const file = (name: string) => `Content-Disposition: attachment; filename="${name}"\r\n`
const inBase64 = (bytes: Buffer) => bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n')
const encoded = (type: string, bytes: Buffer, name: string) =>
  part(type, inBase64(bytes), `${file(name)}Content-Transfer-Encoding: base64\r\n`)

const german = Buffer.from(`Schöne Grüße. Ihr Bestätigungscode lautet: ${code}.\r\n`, 'latin1')
const plain = `Your sign-in code is: ${code}`
const digits = Array.from(code)
const boxes = `<!doctype html><p>Your sign-in code</p><table><tr>${digits
  .map((digit) => `<td class="digit">${digit}</td>`)
  .join('\n')}</tr></table>`
const folded = (text: string, at: number) => `${text.slice(0, at)}\r\n ${text.slice(at)}`
const description = `DESCRIPTION:Join the call with the link above. The passcode of the call is: ${code}\\n`
const calendar = `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Call\r\n${folded(description, description.indexOf(code) + 2)}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`

const cases: [string, string | Buffer][] = [
  [
    'control: a text in UTF-8',
    mixed(encoded('application/octet-stream', Buffer.from(plain), 'code.txt')),
  ],
  [
    'a text in Latin-1 that is said to be bytes',
    mixed(encoded('application/octet-stream', german, 'code.txt')),
  ],
  [
    'a text in Latin-1 that is said to be XML',
    mixed(encoded('application/xml', german, 'code.xml')),
  ],
  [
    'a text in UTF-16 without a mark',
    mixed(encoded('application/octet-stream', Buffer.from(plain, 'utf16le'), 'code.txt')),
  ],
  [
    'a text in UTF-16 that says so',
    mixed(encoded('text/plain; charset=utf-16le', Buffer.from(plain, 'utf16le'), 'code.txt')),
  ],
  [
    'a text with a control character',
    mixed(encoded('application/octet-stream', Buffer.from(`\x1b[1m${plain}\x1b[0m`), 'code.log')),
  ],
  [
    'a page that is said to be bytes',
    mixed(encoded('application/octet-stream', Buffer.from(boxes), 'code.html')),
  ],
  ['a page in XHTML', mixed(encoded('application/xhtml+xml', Buffer.from(boxes), 'code.xhtml'))],
  [
    'an alternative in AMP',
    `${head('multipart/alternative; boundary=b')}${part('text/plain', 'Your sign-in code is below.')}${part('text/x-amp-html', boxes)}${part('text/html', boxes)}--b--\r\n`,
  ],
  ['a calendar with a folded line', mixed(part('text/calendar; method=REQUEST', calendar))],
  [
    'a calendar in the alternative',
    `${head('multipart/alternative; boundary=b')}${part('text/plain', 'You are invited.')}${part('text/calendar; method=REQUEST', calendar)}--b--\r\n`,
  ],
  [
    'two parts of text that join',
    `${head('multipart/mixed; boundary=b')}${part('text/plain', 'Your sign-in code is 482')}${part('text/plain', '913')}--b--\r\n`,
  ],
  [
    'a text in UTF-7',
    mixed(
      part('text/plain; charset=utf-7', `Your sign-in code is: +ADQAOAAyADkAMQAz-`, file('a.txt')),
    ),
  ],
]

test.each(cases)('%s', async (_, raw) => {
  const readings = await readAll(raw)

  // Four consecutive digits of six reveal nearly the whole code.
  for (const reading of readings) {
    const at = reading.search(/4829|8291|2913/)
    expect(at === -1 ? '' : reading.slice(Math.max(0, at - 60), at + 20)).toBe('')
  }
})
