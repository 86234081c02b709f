/**
 * The mail server of the local world, with a page that shows the latest mails. It hands mail for accounts
 * to the product, as it would come in from outside; any other mail ends here. Nothing leaves the machine,
 * and nothing is kept on disk.
 */
import { once } from 'node:events'
import { html, raw } from 'hono/html'
import PostalMime from 'postal-mime'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import * as z from 'zod'
import { mailLimits } from '../../shared/mailbox/receive/parse.ts'
import { mailRefusals } from '../../shared/mailbox/receive/parse-refusals.ts'
import { handOver, type Inbound, RefusedMail, stamped } from './inbound.ts'
import { listen } from './process/listen.ts'

const keptMax = 200

/** A running mail server. */
export type MailCatcher = {
  smtpUrl: string
  outboxUrl: string
  /** Returns the mails that were kept, oldest first. */
  caught(): readonly CaughtMail[]
  close(): Promise<void>
}

/** Ports of the server and of its page. */
export type MailPorts = { smtp: number; outbox: number }

function openSmtp(inbound: Inbound | undefined, keep: (mail: Omit<CaughtMail, 'number'>) => void) {
  const isOurs = (address: string) =>
    inbound !== undefined && address.toLowerCase().endsWith(`@${inbound.domain}`)
  const give = async ({ envelope }: SMTPServerSession, to: string, raw?: Uint8Array) => {
    if (!inbound || !isOurs(to)) return
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
    const mail = raw && stamped(inbound, { from, to }, raw)
    const reply = await handOver(inbound, { from, to }, mail)
    if (reply !== undefined) throw new RefusedMail(reply)
  }
  return new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    size: mailLimits.bytesMax,
    logger: false,
    onRcptTo({ address }, session, done) {
      give(session, address).then(() => done(), done)
    },
    onData(stream, session, done) {
      const take = async () => {
        const raw = await readBytes(stream)
        if (stream.sizeExceeded) throw new RefusedMail(mailRefusals.too_large)
        // One reply stands for all recipients. A recipient who is sent the mail again keeps it once.
        for (const { address } of session.envelope.rcptTo) await give(session, address, raw)
        keep(await readMail(raw, session))
      }
      take().then(() => done(), done)
    },
  })
}

const bound = z.object({ port: z.int().positive() })

/** Starts the server. Port 0 takes a free one. Without `inbound`, no mail is the product's. */
export async function startMailCatcher(
  ports: MailPorts = { smtp: 0, outbox: 0 },
  inbound?: Inbound,
): Promise<MailCatcher> {
  const kept: CaughtMail[] = []
  let count = 0
  const keep = (mail: Omit<CaughtMail, 'number'>) => {
    count += 1
    kept.push({ number: count, ...mail })
    if (kept.length > keptMax) kept.shift()
  }
  const smtp = openSmtp(inbound, keep)
  // A client that breaks off does not concern this server.
  smtp.on('error', () => {})
  const server = smtp.listen(ports.smtp, '127.0.0.1')
  await once(server, 'listening')
  const outbox = await listen(
    outboxPages(() => kept),
    ports.outbox,
  )
  return {
    smtpUrl: `smtp://127.0.0.1:${bound.parse(server.address()).port}`,
    outboxUrl: outbox.url,
    caught: () => kept,
    async close() {
      await outbox.close()
      await new Promise<void>((closed) => smtp.close(closed))
    },
  }
}

/** A caught mail. */
export type CaughtMail = {
  /** Sequence number, from 1. */
  number: number
  from: string
  to: readonly string[]
  subject: string
  text: string
  html: string
  /** Headers as they came, by name in lower case. */
  headers: Readonly<Record<string, string>>
  /** The whole message as it came, one character for each byte. */
  raw: string
}

/** Collects the bytes that a client sends after DATA. */
export async function readBytes(stream: SMTPServerDataStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(z.instanceof(Uint8Array).parse(chunk))
  return Buffer.concat(chunks)
}

/** Reads a mail for the outbox page. */
async function readMail(
  raw: Uint8Array,
  { envelope }: SMTPServerSession,
): Promise<Omit<CaughtMail, 'number'>> {
  const mail = await PostalMime.parse(raw)
  return {
    from: mail.from?.address ?? '',
    to: envelope.rcptTo.map(({ address }) => address),
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
    raw: Buffer.from(raw).toString('latin1'),
  }
}

type Html = ReturnType<typeof html>

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}

const style = raw(`<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { width: 100%; border-collapse: collapse }
th, td { text-align: left; padding: .5rem; border-bottom: 1px solid #8884; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid #8884 }
iframe { width: 100%; height: 30rem; border: 1px solid #8884; background: canvas }
</style>`)

/** Returns the handler of the outbox page, which calls `caught` for each request. */
export function outboxPages(caught: () => readonly CaughtMail[]) {
  return async (request: Request): Promise<Response> => {
    const { hostname, pathname, searchParams } = new URL(request.url)
    // Without this check, a page whose own host name points here could read the codes (DNS rebinding).
    if (!['127.0.0.1', 'localhost'].includes(hostname)) return new Response(null, { status: 421 })
    if (pathname === '/') return page('Outbox', list(caught().toReversed()))
    if (pathname === '/messages') {
      const to = searchParams.get('to')
      return Response.json(caught().filter((mail) => to === null || mail.to.includes(to)))
    }
    const [, number] = /^\/messages\/(\d+)$/.exec(pathname) ?? []
    const mail = caught().find((one) => String(one.number) === number)
    return mail
      ? page(mail.subject, one(mail))
      : page('No such mail', html`<p>It was not kept.</p>`)
  }
}

async function page(title: string, body: Html): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>${style}</head><body><p><a href="/">Outbox</a></p><h1>${title}</h1>${body}</body></html>`
  return new Response(String(text), { headers })
}

function list(mails: readonly CaughtMail[]): Html {
  if (mails.length === 0) return html`<p>No mail was sent yet.</p>`
  const rows = mails.map(
    ({ number, to, subject }) =>
      html`<tr><td>${to.join(', ')}</td><td><a href="/messages/${number}">${subject}</a></td></tr>`,
  )
  return html`<table><thead><tr><th scope="col">To</th><th scope="col">Subject</th></tr></thead>
<tbody>${rows}</tbody></table>`
}

function one(mail: CaughtMail): Html {
  return html`<p>From ${mail.from} to ${mail.to.join(', ')}</p>
<h2>As text</h2><pre>${mail.text}</pre>
<h2>As HTML</h2><iframe title="The mail as HTML" sandbox srcdoc="${mail.html}"></iframe>`
}
