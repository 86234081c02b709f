/**
 * Sends a mail by SMTP submission (RFC 5321, RFC 6409), one connection per mail. TLS is on from the
 * first byte (RFC 8314), except for smtp: URLs, which are allowed only locally. STARTTLS is not used,
 * because a man in the middle can strip it. A server that closes or stays silent ends the try, never
 * the isolate.
 */
import { encodeText } from '../base64.ts'
import { senderAddress } from './address.ts'
import { mimeMessage } from './mime.ts'
import type { Failure, MailTransport, Outgoing } from './port.ts'

/** The server to submit to, and the identity to use. */
export type Submission = {
  connect: Connect
  /** smtps://user@host:port, or smtp://host:port where plain text is allowed. */
  server: URL
  password: string
  /** Name of this client, and the domain in which Message-IDs are unique. */
  domain: string
  /** Puts a domain's signature on top of a message, if there is a key for it. */
  sign?: (message: string, domain: string) => Promise<string>
  /** Returns the signal that ends a try. */
  deadline: () => AbortSignal
}

/** Returns a transport that submits to one server. */
export function smtpTransport(submission: Submission): MailTransport {
  return async (mail) => {
    const { server, connect, deadline } = submission
    const tls = server.protocol === 'smtps:'
    const socket = connect(server.hostname, Number(server.port || (tls ? 465 : 25)), tls)
    const signal = deadline()
    const late = () => void socket.close().catch(() => {})
    signal.addEventListener('abort', late, { once: true })
    try {
      return await within(signal, converse(openExchange(socket), mail, submission))
    } finally {
      signal.removeEventListener('abort', late)
      late()
    }
  }
}

async function converse(
  exchange: SmtpExchange,
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
    const reply = await exchange(line)
    // A refusal at this point concerns the server or the operator's settings, not this mail.
    if (reply.code !== wanted) return { reason: reply.text, forGood: false, outage: true }
  }
  const steps: [number, string][] = [
    [25, `RCPT TO:<${mail.to}>`],
    [35, 'DATA'],
    [25, `${message}.`],
  ]
  for (const [wanted, lines] of steps) {
    const reply = await exchange(lines)
    if (Math.floor(reply.code / 10) !== wanted) {
      return { reason: reply.text, forGood: reply.code >= 500, outage: false }
    }
  }
  // The mail was taken. Waiting for the reply to QUIT could fail the try, and send the mail again.
  void exchange('QUIT').catch(() => {})
  return undefined
}

/** Signs with the domain of the author, because a signature of another domain would prove nothing. */
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

/** A TCP connection as the platform opens it. */
export type Socket = {
  readable: ReadableStream<Uint8Array>
  writable: WritableStream<Uint8Array>
  close(): Promise<unknown>
}
/** Opens a connection. With `tls` it is encrypted from the first byte. */
export type Connect = (hostname: string, port: number, tls: boolean) => Socket

/** The three-digit code, and the whole text of the reply. */
export type Reply = { code: number; text: string }
/** Sends a line, if there is one, and reads the reply to it. */
type SmtpExchange = (line?: string) => Promise<Reply>

/** Maximum length of a reply, which is a few lines of 512 octets each (RFC 5321 section 4.5.3.1.5). */
const replyCharactersMax = 16 * 1024

/** Returns a function that talks to the server at the other end. */
function openExchange({ readable, writable }: Socket): SmtpExchange {
  const reader = readable.getReader()
  const writer = writable.getWriter()
  const decoder = new TextDecoder()
  return async (line) => {
    if (line !== undefined) await writer.write(new TextEncoder().encode(`${line}\r\n`))
    for (let text = ''; text.length < replyCharactersMax; ) {
      const { value, done } = await reader.read()
      if (done) throw new Error('the mail server closed the connection')
      text += decoder.decode(value, { stream: true })
      // The last line of a reply has a space after its code (RFC 5321 section 4.2.1).
      const [, code] = /(?:^|\n)(\d{3})(?: [^\n]*)?\r?\n$/.exec(text) ?? []
      if (code !== undefined) return { code: Number(code), text: text.trim() }
    }
    throw new Error('the mail server answers too much')
  }
}
