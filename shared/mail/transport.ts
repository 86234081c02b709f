/** Which way mail leaves: MAIL_URL says it. Plain text travels only in the local world. */
import type { Config } from '../env.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { httpTransport } from './http.ts'
import type { MailTransport } from './port.ts'
import { smtpTransport } from './smtp.ts'
import type { Connect } from './smtp-connection.ts'

/** Less than the shortest lease of a mail in the outbox. */
const deadlineMilliseconds = 20_000

/** The transport of this deployment. */
export function transportOf(
  world: Pick<World, 'config' | 'fetch' | 'deadline'>,
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
  return smtpTransport({ connect, server, password: token, domain, deadline })
}

function mailUrl(config: Config): URL {
  const url = new URL(required(config, 'MAIL_URL'))
  const sealed = url.protocol === 'https:' || url.protocol === 'smtps:'
  const local = config.ENVIRONMENT === 'local' && /^(http|smtp):$/.test(url.protocol)
  if (!sealed && !local) throw new Error('MAIL_URL has to begin with https: or smtps:')
  return url
}
