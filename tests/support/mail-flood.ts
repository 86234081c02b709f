/** A stranger with a mail server in its own thread, who sends mails of 1 MB as fast as possible. */
import { parentPort, workerData } from 'node:worker_threads'
import { createTransport } from 'nodemailer'
import * as z from 'zod'
import { startMailCatcher } from '../../scripts/local/mail.ts'

const { inbound, recipients, senders } = z
  .object({
    inbound: z.object({ domain: z.string(), url: z.string(), secret: z.string() }),
    recipients: z.array(z.string()),
    senders: z.int(),
  })
  .parse(workerData)

/** The content known to take longest to parse: amounts without a space in nested elements. */
const worst = `${'<i class=a>'.repeat(200)}${'руб4829 '.repeat(64_000)}`

const catcher = await startMailCatcher({ smtp: 0, outbox: 0 }, inbound)
let sent = 0
let isOver = false
parentPort?.once('message', () => {
  isOver = true
})

async function sendOnAndOn(first: number): Promise<void> {
  const client = createTransport(`${catcher.smtpUrl}?pool=true`)
  for (let at = first; !isOver; at += senders) {
    const to = recipients[at % recipients.length] ?? ''
    const from = `stranger${at}@evil.example`
    const mail = { from, to, subject: `${at}`, html: worst, textEncoding: 'base64' as const }
    // Refused mails cost work too, and most are refused.
    await client.sendMail(mail).catch(() => undefined)
    sent += 1
  }
  client.close()
}

parentPort?.postMessage('begun')
await Promise.all(Array.from({ length: senders }, (_, at) => sendOnAndOn(at)))
await catcher.close()
parentPort?.postMessage({ sent })
parentPort?.close()
