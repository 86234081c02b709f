/**
 * Hands mail for the product's own domain to the function that receives it, as a mail server with a
 * webhook does: signed, and with the server's findings about the sender on top.
 */
import { createHmac, randomUUID } from 'node:crypto'
import * as z from 'zod'
import { mailDomain } from './bindings.ts'
import type { Ports } from './process/ports.ts'
import type { Secrets } from './secrets.ts'

/** Address and secret of the webhook that receives mail. */
export type Inbound = {
  /** Domain whose mail is the product's. */
  domain: string
  /** Address of the function. */
  url: string
  /** INBOUND_MAIL_SECRET of the function. */
  secret: string
  /** Sends a request to the function; by the network if absent. */
  send?: (request: Request) => Promise<Response>
}

/** An error that ends an SMTP command with this reply. */
export class RefusedMail extends Error {
  readonly responseCode: number

  constructor(reply: string) {
    super(reply.slice('550 '.length))
    this.responseCode = Number(reply.slice(0, 3))
  }
}

/** Returns the webhook of the local world, whose function starts to listen later than the mail server. */
export function inboundOf({ ports, secrets }: { ports: Ports; secrets: Secrets }): Inbound {
  const url = `http://127.0.0.1:${ports.functions}/inbound-mail`
  return { domain: mailDomain, url, secret: secrets.inbound_mail_secret }
}

/** Sender and recipient of the SMTP transaction. */
export type Envelope = { from: string; to: string }

const replySchema = z.object({ smtp: z.string().optional() })
const later = '451 4.3.0 The mailbox cannot be reached right now; send it again later'

/** Asks whether a recipient is known, or hands over `raw`. Returns the SMTP reply if it is refused. */
export async function handOver(
  { url, secret, send = fetch }: Inbound,
  { from, to }: Envelope,
  raw?: Uint8Array,
): Promise<string | undefined> {
  const body = JSON.stringify({
    mail_from: from,
    rcpt_to: to,
    ...(raw && { raw_base64: Buffer.from(raw).toString('base64') }),
  })
  try {
    const headers = signed(secret, body, new Date())
    const answer = await send(new Request(url, { method: 'POST', headers, body }))
    if (answer.ok) return undefined
    return replySchema.parse(await answer.json()).smtp ?? later
  } catch {
    return later
  }
}

/** Returns the headers of a request to the webhook (standardwebhooks.com). */
export function signed(secret: string, body: string, at: Date): Record<string, string> {
  const id = `msg_${randomUUID()}`
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const hmac = createHmac('sha256', Buffer.from(secret, 'base64'))
  const signature = hmac.update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

/**
 * Returns the mail with this server's findings on top. All clients are on this machine, so any may send
 * from `localhost`, and nothing is known of other domains.
 */
export function stamped({ domain }: Inbound, { from }: Envelope, raw: Uint8Array): Uint8Array {
  const server = `mx.${domain}`
  const sender = /@([a-z0-9.-]+)$/i.exec(from)?.[1]?.toLowerCase()
  const spf = sender === 'localhost' ? 'pass' : 'none'
  const property = sender === undefined ? '' : ` smtp.mailfrom=${sender}`
  return withFindings(server, raw, [
    `Authentication-Results: ${server}; spf=${spf}${property}`,
    `Received: from localhost (127.0.0.1) by ${server} with SMTP; ${new Date().toUTCString()}`,
  ])
}

/** Returns a mail with these headers on top, without findings that claim to be this server's. */
export function withFindings(
  server: string,
  raw: Uint8Array,
  lines: readonly string[],
): Uint8Array {
  const text = Buffer.from(raw).toString('latin1')
  const end = /\r?\n\r?\n/.exec(text)?.index ?? text.length
  const fields = text.slice(0, end).split(/\r?\n(?![ \t])/)
  const isForged = (field: string) =>
    /^authentication-results[ \t]*:/i.test(field) && field.toLowerCase().includes(server)
  const kept = fields.filter((field) => !isForged(field))
  return Buffer.from([...lines, ...kept].join('\r\n') + text.slice(end), 'latin1')
}
