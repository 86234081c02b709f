/**
 * The mail server of the local world, with a page that shows the latest mails. It hands mail for accounts
 * to the product, as it would come in from outside; any other mail ends here. Nothing leaves the machine,
 * and nothing is kept on disk.
 */
import { once } from 'node:events'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import * as z from 'zod'
import { mailLimits } from '../../shared/mailbox/receive/parse.ts'
import { mailRefusals } from '../../shared/mailbox/receive/parse-refusals.ts'
import { type CaughtMail, readBytes, readMail } from './caught-mail.ts'
import { handOver, type Inbound, RefusedMail, stamped } from './inbound.ts'
import { listen } from './listen.ts'
import { outboxPages } from './outbox-pages.ts'

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
  // A client that breaks off is no concern of this server.
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
