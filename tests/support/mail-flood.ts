/** A stranger in a thread of its own, with a mail server there: mails of 1 MB, as fast as they are taken. */
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

/** What takes longest to read of all that is known: amounts without a space, in elements in elements. */
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
    // What is refused costs as well, and is what becomes of most.
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
