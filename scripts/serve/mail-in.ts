/**
 * The SMTP server for mail to agents. It asks the service about each recipient before a mail is sent, finds out
 * who sent it, and hands it to the function that receives mail, as any mail server with a webhook does.
 */
import { once } from 'node:events'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { mailLimits } from '../../shared/mailbox/receive/parse.ts'
import { mailRefusals } from '../../shared/mailbox/receive/parse-refusals.ts'
import { handOver, type Inbound, RefusedMail, withFindings } from '../local/inbound.ts'
import { readBytes } from '../local/mail.ts'
import { findingsOn, type Resolver } from './alarms.ts'
import { mailReceiverOf } from './bindings.ts'
import { admitPerMinute } from './door/per-minute.ts'
import { type CertificateFiles, readCertificate } from './host.ts'
import { type LoadedFunction, untracked } from './platform.ts'
import { readSecrets, type Settings } from './settings.ts'

const clientsMax = 100
const recipientsMax = 20
const silenceMilliseconds = 60_000

/** Settings of the server. */
export type MailInOptions = {
  port: number
  /** Name of this server in its headers, MAIL_RECEIVER of the function. */
  server: string
  inbound: Inbound
  /** Certificate for STARTTLS, which is not offered without one. */
  tls: CertificateFiles | undefined
  /** Recipients and mails that one address, or IPv6 network, may name in a minute. */
  perMinute?: number
  resolver?: Resolver
}

/** A running server. */
export type MailIn = { port: number; stop(): Promise<void>; reload(): void }

/** Starts the server of a service. */
export async function startMailOf(
  settings: Settings,
  port: number,
  functions: readonly { folder: string; loaded: LoadedFunction }[],
): Promise<MailIn> {
  const receiving = functions.find(({ folder }) => folder === 'inbound-mail')?.loaded
  if (!receiving) throw new Error('there is no function inbound-mail')
  const { INBOUND_MAIL_SECRET: secret = '' } = readSecrets(settings.directory, 'app')
  const inbound = {
    domain: settings.mailDomain,
    url: `${settings.baseUrl}/inbound-mail`,
    secret,
    send: (request: Request) => receiving.fetch(request, untracked),
  }
  return startMailIn({ port, server: mailReceiverOf(settings), inbound, tls: settings.tls })
}

/** Listens, and rejects if the port is taken. */
export async function startMailIn(options: MailInOptions): Promise<MailIn> {
  const { port, server: name, tls, perMinute = 120 } = options
  const isAdmitted = admitPerMinute(perMinute)
  const admit = (ip: string) => {
    if (!isAdmitted(ip)) throw new RefusedMail('450 4.7.1 Too many mails; send them again later')
  }
  const server = new SMTPServer({
    name,
    disabledCommands: tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...(tls && readCertificate(tls)),
    minVersion: 'TLSv1.2',
    size: mailLimits.bytesMax,
    maxClients: clientsMax,
    socketTimeout: silenceMilliseconds,
    disableReverseLookup: true,
    logger: false,
    onRcptTo({ address }, session, done) {
      const ask = async () => {
        admit(session.remoteAddress)
        if (session.envelope.rcptTo.length >= recipientsMax) {
          throw new RefusedMail('452 4.5.3 Too many recipients')
        }
        await give(options, session, address)
      }
      ask().then(() => done(), done)
    },
    onData(stream, session, done) {
      const take = async () => {
        const raw = await readBytes(stream)
        if (stream.sizeExceeded) throw new RefusedMail(mailRefusals.too_large)
        admit(session.remoteAddress)
        await receive(options, session, raw)
      }
      take().then(() => done(), done)
    },
  })
  // A client that goes away in the middle is not an error of this server.
  server.on('error', () => {})
  const net = server.listen(port)
  await once(net, 'listening')
  const bound = net.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    reload() {
      // The port of the functions says whether it can be read.
      if (tls) server.updateSecureContext(readCertificate(tls))
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

async function receive(
  options: MailInOptions,
  session: SMTPServerSession,
  raw: Uint8Array,
): Promise<void> {
  const { server, resolver } = options
  const { remoteAddress: ip, hostNameAppearsAs, envelope } = session
  const helo = hostNameAppearsAs || ip
  const findings = await findingsOn(server, raw, { ip, helo, from: senderOf(session) }, resolver)
  const mail = withFindings(server, raw, findings)
  // One reply stands for all recipients. A recipient who is sent the mail again keeps it once.
  for (const { address } of envelope.rcptTo) await give(options, session, address, mail)
}

async function give(
  { inbound }: MailInOptions,
  session: SMTPServerSession,
  to: string,
  raw?: Uint8Array,
): Promise<void> {
  const reply = await handOver(inbound, { from: senderOf(session), to }, raw)
  if (reply !== undefined) throw new RefusedMail(reply)
}

function senderOf({ envelope: { mailFrom } }: SMTPServerSession): string {
  return mailFrom === false ? '' : mailFrom.address
}
