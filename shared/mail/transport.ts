/** Chooses how mail leaves, as MAIL_URL says. Plain text is allowed only in the local environment. */
import { decodeBytes } from '../base64.ts'
import type { Config } from '../env.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { readPrivateKey, signDkim } from './dkim.ts'
import { httpTransport } from './http.ts'
import type { MailTransport } from './port.ts'
import { type Submission, smtpTransport } from './smtp.ts'
import type { Connect } from './smtp-connection.ts'

/** Shorter than the shortest lease of a mail in the outbox. */
const deadlineMilliseconds = 20_000

/** Returns the transport of this deployment. */
export function transportOf(
  world: Pick<World, 'config' | 'fetch' | 'deadline' | 'now'>,
  connect: Connect,
): MailTransport {
  const { config, fetch } = world
  const server = mailUrl(config)
  const token = required(config, 'MAIL_TOKEN')
  const deadline = () => world.deadline(deadlineMilliseconds)
  if (server.protocol.startsWith('http')) {
    return httpTransport({ fetch, url: server.href, token, deadline })
  }
  const domain = config.MAIL_DOMAIN
  const submission = { connect, server, password: token, domain, deadline }
  return smtpTransport({ ...submission, ...signing(world) })
}

/** Signs with the domain of the author. Signs nothing if no selector says where the key is published. */
function signing({ config, now }: Pick<World, 'config' | 'now'>): Pick<Submission, 'sign'> {
  const { DKIM_SELECTOR: selector } = config
  if (selector === '') return {}
  const pkcs8 = decodeBytes(required(config, 'DKIM_PRIVATE_KEY')) ?? new Uint8Array()
  return {
    sign: async (message, domain) =>
      signDkim(message, { domain, selector, privateKey: await readPrivateKey(pkcs8) }, now()),
  }
}

function mailUrl(config: Config): URL {
  const url = new URL(required(config, 'MAIL_URL'))
  const sealed = url.protocol === 'https:' || url.protocol === 'smtps:'
  const local = config.ENVIRONMENT === 'local' && /^(http|smtp):$/.test(url.protocol)
  if (!sealed && !local) throw new Error('MAIL_URL has to begin with https: or smtps:')
  return url
}
