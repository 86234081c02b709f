/** Mail as an outside server delivers it to the product. */
import { inboundMail } from '../../functions/inbound-mail/index.ts'
import { signed } from '../../scripts/local/inbound.ts'
import { receiveMail } from '../../shared/mailbox/receive/receive.ts'
import type { World } from '../../shared/world.ts'
import { inboundMailSecret, mailDomain } from './world.ts'

export type Letter = {
  to: string
  from: string
  subject: string
  text: string
  html?: string
  /** Domain that the receiving server established as the sender's, by SPF. */
  authenticated?: string
  /** More header lines, and a Message-ID in place of a new one. */
  headers?: Readonly<Record<string, string>>
  envelopeFrom?: string
}

let count = 0

/** Returns the mail on the wire, with the headers that the receiving server adds. */
export function messageOf(letter: Letter): string {
  const { to, from, subject, text, html, authenticated, headers } = letter
  count += 1
  const results = authenticated ? `spf=pass smtp.mailfrom=${authenticated}` : 'spf=none'
  const body = html === undefined ? plain(text) : alternatives(text, html)
  const lines = {
    'Authentication-Results': `mx.${mailDomain}; ${results}`,
    From: from,
    To: to,
    Subject: /^[ -~]*$/.test(subject)
      ? subject
      : `=?utf-8?b?${Buffer.from(subject).toString('base64')}?=`,
    Date: new Date().toUTCString(),
    'Message-ID': `<${count}.${Date.now()}@mail.example>`,
    'MIME-Version': '1.0',
    ...headers,
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  return head.join('') + body
}

/** Delivers a mail; throws if it is not kept. */
export async function deliver(world: World, letter: Letter): Promise<void> {
  const { to, from, envelopeFrom = from } = letter
  const raw = new TextEncoder().encode(messageOf(letter))
  const outcome = await receiveMail(world, { envelopeFrom, envelopeTo: to, raw })
  if (outcome !== 'kept') throw new Error(`the mail was refused: ${outcome.refused}`)
}

function plain(text: string): string {
  return `Content-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`
}

function alternatives(text: string, html: string): string {
  const part = (type: string, content: string) =>
    `--b\r\nContent-Type: text/${type}; charset=utf-8\r\n\r\n${content}\r\n`
  const all = part('plain', text) + part('html', html)
  return `Content-Type: multipart/alternative; boundary=b\r\n\r\n${all}--b--\r\n`
}

/** Outcome of a mail for the platform: taken, bounced with a reason, or to be sent again later. */
export type Outcome = { taken: true } | { rejected: string } | { later: string }

/** Delivers bytes as the platform's mail handler does. */
export async function byPlatform(
  world: World,
  { to, from = 'a@mail.example', raw }: { to: string; from?: string; raw: Uint8Array | string },
): Promise<Outcome> {
  let rejected: string | undefined
  const body = new Response(typeof raw === 'string' ? raw : new Uint8Array(raw)).body
  if (!body) throw new Error('a mail has bytes')
  const setReject = (reason: string) => {
    rejected = reason
  }
  try {
    await inboundMail(() => world).email({ from, to, raw: body, setReject })
  } catch (error) {
    return { later: String(error) }
  }
  return rejected === undefined ? { taken: true } : { rejected }
}

/** Sends a request to the webhook; each given option replaces what a genuine server would send. */
export async function byWebhook(
  world: World,
  body: unknown,
  { secret = inboundMailSecret, at = world.now(), method = 'POST', headers }: Signing = {},
): Promise<{ status: number; body: unknown }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const request = new Request('http://aoa/inbound-mail', {
    method,
    body: method === 'POST' ? text : null,
    headers: { ...signed(secret, text, at), ...headers },
  })
  const answer = await inboundMail(() => world).fetch(request)
  return { status: answer.status, body: await answer.json() }
}

type Signing = {
  secret?: string
  at?: Date
  method?: string
  headers?: Record<string, string>
}
