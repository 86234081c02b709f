/**
 * Reads a mail that came in: who it is proven to be from, and where its codes are. What comes out is
 * ready to be sealed. It needs no secret and no database, so that whatever a stranger's bytes do to
 * the reader, they do it away from both.
 */
import { sha256, toHex } from '../digest.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { senderAddress } from './address.ts'
import { authenticationOf } from './authentication.ts'
import type { IncomingMail } from './inbound-port.ts'
import { markCodes } from './mark-codes.ts'
import { mailLimits, type ParsedMail, parseMail } from './parse.ts'
import type { MailRefusal } from './parse-refusals.ts'

/** A mail as a server hands it over: the envelope and the message. */
export type Delivery = {
  /** Empty for a mail that tells of another's failure (RFC 5321 section 4.5.5). */
  envelopeFrom: string
  envelopeTo: string
  raw: Uint8Array
}

type Reader = Pick<World, 'config' | 'randomBytes'>

/** Servers count about as many steps of a mail before they take it for a circle. */
const receivedMax = 50

/** Reads a mail, or says why it is not taken. */
export async function readIncoming(
  world: Reader,
  delivery: Delivery,
): Promise<IncomingMail | { refused: MailRefusal }> {
  const mail = await parseMail(delivery.raw, mailLimits)
  if ('refused' in mail) return mail
  const steps = mail.headers.filter(({ name }) => name === 'received')
  if (steps.length > receivedMax) return { refused: 'loop' }
  return incoming(world, delivery, mail)
}

async function incoming(
  world: Reader,
  { envelopeFrom, envelopeTo, raw }: Delivery,
  mail: ParsedMail,
): Promise<IncomingMail> {
  const { config } = world
  const from = mail.from.address.toLowerCase()
  const trustedServer = required(config, 'MAIL_RECEIVER')
  const { head, body, codes } = markCodes(world, mail)
  return {
    to: envelopeTo,
    size: raw.length,
    from,
    authentication: authenticationOf(mail.headers, {
      trustedServer,
      author: from,
      provesLoopback: config.allowLoopback,
    }),
    digest: await digestOf(mail, raw),
    isOwn: ownAddresses(config).includes(from),
    head,
    body: { ...body, automatic: envelopeFrom === '' || isAutomatic(mail) },
    attachments: mail.attachments.map(({ content }) => content),
    codes,
  }
}

function ownAddresses(config: World['config']): string[] {
  const sender = senderAddress(required(config, 'MAIL_FROM')).toLowerCase()
  return [sender, `no-reply@${config.MAIL_DOMAIN}`]
}

/** RFC 3834 section 5: everything but `no` was sent without a person. */
function isAutomatic({ headers }: ParsedMail): boolean {
  const said = headers.find(({ name }) => name === 'auto-submitted')?.value
  return said !== undefined && !/^\s*no\s*(;|$)/i.test(said)
}

/** Servers on the way add headers at each try, so of those only what the author wrote counts. */
async function digestOf(mail: ParsedMail, raw: Uint8Array): Promise<string> {
  const { messageId, date, subject, from } = mail
  const written = JSON.stringify([messageId, date, subject, from.address])
  return toHex(await sha256(new TextEncoder().encode(written), bodyOf(raw)))
}

/** What follows the first empty line, or nothing. */
function bodyOf(raw: Uint8Array): Uint8Array {
  for (let at = 0; at < raw.length; at += 1) {
    const next = raw[at + 1] === 13 ? raw[at + 2] : raw[at + 1]
    if (raw[at] === 10 && next === 10) return raw.subarray(at + 1)
  }
  return raw.subarray(raw.length)
}
