/** Mail as a test reads it: sent by the product over real SMTP to a server in the same process. */
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { Duplex } from 'node:stream'
import { type CaughtMail, startMailCatcher } from '../../scripts/local/mail.ts'
import { deliverMail } from '../../shared/mail/deliver.ts'
import type { Connect } from '../../shared/mail/smtp.ts'
import { transportOf } from '../../shared/mail/transport.ts'
import type { World } from '../../shared/world.ts'

export type Mailbox = {
  /** Has the mailer send what is due, and returns all mail to this address so far. */
  mails(to: string): Promise<CaughtMail[]>
  close(): Promise<void>
}

/** Opens connections with the interface of the platform's sockets. */
export const connect: Connect = (hostname, port) => {
  const socket = createConnection({ host: hostname, port })
  socket.on('error', () => {})
  const { readable, writable } = Duplex.toWeb(socket)
  const close = async () => {
    if (socket.closed) return
    socket.destroy()
    await once(socket, 'close')
  }
  return { readable, writable, close }
}

/** Opens a mailbox for every address; its server starts when it is first read. */
export function openMailbox(world: World): Mailbox {
  let starting: ReturnType<typeof startMailCatcher> | undefined
  return {
    async mails(to) {
      starting ??= startMailCatcher()
      const catcher = await starting
      const config = { ...world.config, MAIL_URL: catcher.smtpUrl }
      await deliverMail(world, transportOf({ ...world, config }, connect))
      return catcher.caught().filter((mail) => mail.to.includes(to))
    },
    async close() {
      await (await starting)?.close()
    },
  }
}
