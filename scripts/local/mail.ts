/**
 * Catches the mail that the local world sends: an SMTP server for any address, and beside it a page
 * on which the last ones can be read. Nothing leaves the machine, and nothing is kept on disk.
 */
import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'
import * as z from 'zod'
import { type CaughtMail, readMail } from './caught-mail.ts'
import { listen } from './listen.ts'
import { outboxPages } from './outbox-pages.ts'

const keptMax = 200
const bytesMax = 1024 * 1024

export type MailCatcher = {
  smtpUrl: string
  outboxUrl: string
  /** What was caught so far, oldest first. */
  caught(): readonly CaughtMail[]
  close(): Promise<void>
}

export type MailPorts = { smtp: number; outbox: number }

const bound = z.object({ port: z.int().positive() })

/** Starts to catch; port 0 takes a free one. */
export async function startMailCatcher(
  ports: MailPorts = { smtp: 0, outbox: 0 },
): Promise<MailCatcher> {
  const kept: CaughtMail[] = []
  let count = 0
  const smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    size: bytesMax,
    logger: false,
    onData(stream, session, done) {
      const keep = async () => {
        const mail = await readMail(stream, session)
        count += 1
        kept.push({ number: count, ...mail })
        if (kept.length > keptMax) kept.shift()
      }
      keep().then(() => done(), done)
    },
  })
  // A client that breaks off is no matter of this server.
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
