/**
 * Sends a mail by SMTP submission (RFC 5321, RFC 6409): one connection a mail. TLS is on from the
 * first byte (RFC 8314) except towards this machine; STARTTLS is not spoken, because whoever sits in
 * between can take it out. A server that closes or stays silent ends the try, never the isolate.
 */
import { encodeText } from '../base64.ts'
import { senderAddress } from './address.ts'
import { mimeMessage } from './mime.ts'
import type { Failure, MailTransport, Outgoing } from './port.ts'
import type { Ask, Connect } from './smtp-connection.ts'
import { askingOn } from './smtp-connection.ts'

/** Where to submit and as whom. */
export type Submission = {
  connect: Connect
  /** smtps://user@host:port, or smtp://host:port where plain text may travel. */
  server: URL
  password: string
  /** Names this side, and is where Message-IDs are unique. */
  domain: string
  /** Puts the signature of a domain on top of a message, where there is a key for it. */
  sign?: (message: string, domain: string) => Promise<string>
  /** Ends a try. */
  deadline: () => AbortSignal
}

/** A transport that submits to one server. */
export function smtpTransport(submission: Submission): MailTransport {
  return async (mail) => {
    const { server, connect, deadline } = submission
    const tls = server.protocol === 'smtps:'
    const socket = connect(server.hostname, Number(server.port || (tls ? 465 : 25)), tls)
    const signal = deadline()
    const late = () => void socket.close().catch(() => {})
    signal.addEventListener('abort', late, { once: true })
    try {
      return await within(signal, converse(askingOn(socket), mail, submission))
    } finally {
      signal.removeEventListener('abort', late)
      late()
    }
  }
}

async function converse(
  ask: Ask,
  mail: Outgoing,
  submission: Submission,
): Promise<Failure | undefined> {
  const { server, password, domain } = submission
  const message = await messageOf(mail, submission)
  const user = decodeURIComponent(server.username)
  const credentials = encodeText(`\0${user}\0${password}`)
  const opening: [number, string?][] = [
    [220],
    [250, `EHLO ${domain}`],
    ...(user ? [[235, `AUTH PLAIN ${credentials}`] satisfies [number, string]] : []),
    [250, `MAIL FROM:<${senderAddress(mail.from)}>`],
  ]
  for (const [wanted, line] of opening) {
    const reply = await ask(line)
    // What is refused here is the server's or the operator's matter, not this mail's.
    if (reply.code !== wanted) return { reason: reply.text, forGood: false, outage: true }
  }
  const steps: [number, string][] = [
    [25, `RCPT TO:<${mail.to}>`],
    [35, 'DATA'],
    [25, `${message}.`],
  ]
  for (const [wanted, lines] of steps) {
    const reply = await ask(lines)
    if (Math.floor(reply.code / 10) !== wanted) {
      return { reason: reply.text, forGood: reply.code >= 500, outage: false }
    }
  }
  // It was taken. A goodbye that is waited for could still end as a try that failed, and be repeated.
  void ask('QUIT').catch(() => {})
  return undefined
}

/** A signature names the domain of the author, or it would prove nothing about the mail. */
function messageOf(mail: Outgoing, { domain, sign }: Submission): string | Promise<string> {
  const message = mimeMessage(mail, domain)
  const from = senderAddress(mail.from)
  return sign ? sign(message, from.slice(from.lastIndexOf('@') + 1)) : message
}

async function within<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const silence = new Promise<never>((_resolve, reject) => {
    const end = () => reject(new Error('the mail server did not answer in time'))
    signal.addEventListener('abort', end, { once: true })
  })
  return Promise.race([work, silence])
}
