/** Chooses how mail leaves, as MAIL_URL says. Plain text is allowed only in the local environment. */
import { decodeBytes } from '../base64.ts'
import { type Config, required } from '../env.ts'
import type { Fetch, World } from '../world.ts'
import { readPrivateKey, signDkim } from './dkim.ts'
import type { MailTransport } from './port.ts'
import { type Connect, type Submission, smtpTransport } from './smtp.ts'

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

/** Status codes that concern the mail itself. All others may be temporary. */
const aboutTheMail = [400, 413, 422]

/** Returns a transport that posts to one URL with one token. */
export function httpTransport(provider: {
  fetch: Fetch
  url: string
  token: string
  deadline: () => AbortSignal
}): MailTransport {
  return async ({ id, from, to, subject, text, html, headers }) => {
    const answer = await provider.fetch(provider.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${provider.token}`,
        'content-type': 'application/json',
        'idempotency-key': id,
      },
      body: JSON.stringify({
        from,
        to: [to],
        subject,
        text,
        html,
        headers: { 'Auto-Submitted': 'auto-generated', ...unfolded(headers) },
      }),
      redirect: 'manual',
      signal: provider.deadline(),
    })
    // The body of the response is not read, because it may repeat the mail.
    await answer.body?.cancel()
    if (answer.ok) return undefined
    const forGood = aboutTheMail.includes(answer.status)
    return { reason: `the provider answered ${answer.status}`, forGood, outage: !forGood }
  }
}

/** Removes line breaks, and To and Message-ID. The provider folds lines and writes these two by itself. */
function unfolded(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const lines = Object.entries(headers).filter(([name]) => !['To', 'Message-ID'].includes(name))
  return Object.fromEntries(lines.map(([name, value]) => [name, value.replaceAll('\r\n', '')]))
}
