/**
 * Determines where an incoming mail is from: who is proven to have sent it, whether this service did,
 * and what identifies it when it comes again. It needs no database.
 */
import { toHex } from '../../digest.ts'
import { type Config, required } from '../../env.ts'
import { noticeAddress } from '../../mail/address.ts'
import { authenticationOf } from './authentication.ts'
import type { IncomingMail } from './inbound-port.ts'
import type { ParsedHead } from './parse.ts'

/** A mail as a server hands it over: the envelope and the message. */
export type Delivery = {
  /** Empty for a notice that another mail failed (RFC 5321 section 4.5.5). */
  envelopeFrom: string
  envelopeTo: string
  raw: Uint8Array
}

/** Maximum number of servers that a mail passed. Mail servers assume a loop at about the same number. */
const receivedMax = 50

/** The facts about a mail from its headers and envelope. */
export type MailOrigin = Pick<
  IncomingMail,
  'to' | 'size' | 'from' | 'authentication' | 'digest' | 'isOwn'
> & { automatic: boolean }

/** Returns true if servers keep handing the mail to each other. */
export function goesInCircles({ headers }: ParsedHead): boolean {
  return headers.filter(({ name }) => name === 'received').length > receivedMax
}

/** Reads where a mail comes from. */
export async function originOf(
  config: Config,
  { envelopeFrom, envelopeTo, raw }: Delivery,
  mail: ParsedHead,
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

/** Values of headers by which programs, lists and servers say that no program should answer a mail. */
const automaticHeaders: ReadonlyMap<string, RegExp> = new Map([
  ['auto-submitted', /^(?!\s*no\s*(;|$))/i],
  ['precedence', /^\s*(auto_reply|bulk|list|junk)\s*$/i],
  ['x-autoreply', /^(?!\s*no\s*$)/i],
  ['x-autorespond', /^(?!\s*no\s*$)/i],
  // Exchange (MS-OXCMAIL); `None` suppresses nothing.
  ['x-auto-response-suppress', /^(?!\s*none\s*$)/i],
  ['list-id', /^/],
  ['return-path', /^\s*<\s*>/],
])

/** Returns true if no person sent the mail, or not to this account alone (RFC 3834 section 2). */
function isAutomatic({ headers }: ParsedHead): boolean {
  return headers.some(({ name, value }) => automaticHeaders.get(name)?.test(value) === true)
}

/**
 * Returns a keyed digest of what the author wrote, because servers add headers at each try. Without a
 * key, whoever reads the database could try codes until a mail with one has this digest.
 */
async function digestOf(secret: string, mail: ParsedHead, raw: Uint8Array): Promise<string> {
  const { messageId, date, subject, from } = mail
  const written = JSON.stringify([messageId, date, subject, from.address])
  const content = new Blob([written, new Uint8Array(rawBody(raw))])
  const key = await digestKey(secret)
  return toHex(await crypto.subtle.sign('HMAC', key, await content.arrayBuffer()))
}

/** Derives the key of digests by HKDF (RFC 5869), separate from the key that signs webhook requests. */
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

/** Returns the bytes after the first empty line, or none. */
function rawBody(raw: Uint8Array): Uint8Array {
  for (let at = 0; at < raw.length; at += 1) {
    const next = raw[at + 1] === 13 ? raw[at + 2] : raw[at + 1]
    if (raw[at] === 10 && next === 10) return raw.subarray(at + 1)
  }
  return raw.subarray(raw.length)
}
