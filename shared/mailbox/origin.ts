/**
 * Where a mail that came in is from: who is proven to have sent it, whether it is our own, and what
 * names it when it comes again. It needs no database.
 */
import { toHex } from '../digest.ts'
import type { Config } from '../env.ts'
import { required } from '../env.ts'
import { noticeAddress } from '../mail/address.ts'
import { authenticationOf } from './authentication.ts'
import type { IncomingMail } from './inbound-port.ts'
import type { ParsedMail } from './parse.ts'

/** A mail as a server hands it over: the envelope and the message. */
export type Delivery = {
  /** Empty for a mail that tells of another's failure (RFC 5321 section 4.5.5). */
  envelopeFrom: string
  envelopeTo: string
  raw: Uint8Array
}

/** Servers count about as many steps of a mail before they take it for a circle. */
const receivedMax = 50

/** What is known of a mail from its headers and its envelope. */
export type MailOrigin = Pick<
  IncomingMail,
  'to' | 'size' | 'from' | 'authentication' | 'digest' | 'isOwn'
> & { automatic: boolean }

/** Whether servers keep handing the mail to each other. */
export function goesInCircles({ headers }: ParsedMail): boolean {
  return headers.filter(({ name }) => name === 'received').length > receivedMax
}

/** Reads where a mail comes from. */
export async function originOf(
  config: Config,
  { envelopeFrom, envelopeTo, raw }: Delivery,
  mail: ParsedMail,
): Promise<MailOrigin> {
  const from = mail.from.address.toLowerCase()
  const trustedServer = required(config, 'MAIL_RECEIVER')
  const authentication = authenticationOf(mail.headers, {
    trustedServer,
    author: from,
    provesLoopback: config.allowLoopback,
  })
  return {
    to: envelopeTo,
    size: raw.length,
    from,
    authentication,
    digest: await digestOf(required(config, 'INBOUND_MAIL_SECRET'), mail, raw),
    isOwn: ownAddresses(config).includes(from),
    automatic: envelopeFrom === '' || isAutomatic(mail),
  }
}

function ownAddresses(config: Config): string[] {
  return [noticeAddress(config), `no-reply@${config.MAIL_DOMAIN}`].map((own) => own.toLowerCase())
}

/** RFC 3834 section 5: everything but `no` was sent without a person. */
function isAutomatic({ headers }: ParsedMail): boolean {
  const said = headers.find(({ name }) => name === 'auto-submitted')?.value
  return said !== undefined && !/^\s*no\s*(;|$)/i.test(said)
}

/**
 * Servers on the way add headers at each try, so of those only what the author wrote counts. It has a
 * key, or whoever reads the database could try codes until a mail with one has this digest.
 */
async function digestOf(secret: string, mail: ParsedMail, raw: Uint8Array): Promise<string> {
  const { messageId, date, subject, from } = mail
  const written = JSON.stringify([messageId, date, subject, from.address])
  const content = new Blob([written, new Uint8Array(bodyOf(raw))])
  const key = await digestKey(secret)
  return toHex(await crypto.subtle.sign('HMAC', key, await content.arrayBuffer()))
}

/** Apart from the key that signs requests to the webhook (RFC 5869). */
async function digestKey(secret: string) {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const root = await crypto.subtle.importKey('raw', bytes(secret), 'HKDF', false, ['deriveKey'])
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: bytes('mail/digest'),
  }
  const kind = { name: 'HMAC', hash: 'SHA-256', length: 256 }
  return crypto.subtle.deriveKey(derivation, root, kind, false, ['sign'])
}

/** What follows the first empty line, or nothing. */
function bodyOf(raw: Uint8Array): Uint8Array {
  for (let at = 0; at < raw.length; at += 1) {
    const next = raw[at + 1] === 13 ? raw[at + 2] : raw[at + 1]
    if (raw[at] === 10 && next === 10) return raw.subarray(at + 1)
  }
  return raw.subarray(raw.length)
}
