/** Who really sent a mail: SPF, DKIM and DMARC as one Authentication-Results header (RFC 8601). */
import type { AuthenticateOptions } from 'mailauth'

/** The SMTP transaction in which a mail came. */
export type MailSession = { ip: string; helo: string; from: string }

/** Asks the DNS; the system's resolver if absent. */
export type Resolver = NonNullable<AuthenticateOptions['resolver']>

const hostPattern = /^[a-z0-9_.-]{1,253}$/i

/** Returns the headers that a server puts on top of a mail. Nothing in them was chosen freely by the sender. */
export async function findingsOn(
  server: string,
  raw: Uint8Array,
  session: MailSession,
  resolver?: Resolver,
): Promise<string[]> {
  // Loaded by a service that receives mail only.
  const { authenticate } = await import('mailauth')
  const { ip, helo, from } = session
  const { spf, dkim, dmarc } = await authenticate(Buffer.from(raw), {
    ip,
    helo,
    sender: from,
    mta: server,
    strict: true,
    disableArc: true,
    disableBimi: true,
    ...(resolver && { resolver }),
  })
  // A reader cannot tell which of several signatures counts: the one for the author's domain, or any that passes.
  const passed = dkim.results.filter(({ status }) => status.result === 'pass' && !status.underSized)
  const signature = passed.find(({ status }) => status.aligned) ?? passed[0] ?? dkim.results[0]
  // A signature for the beginning of a body proves nothing about the rest (RFC 6376 section 8.2).
  const verdict = signature?.status.underSized ? 'policy' : signature?.status.result
  const results = [
    resultOf('spf', spf ? spf.status.result : 'none', 'smtp.mailfrom', from && domainOf(from)),
    resultOf('dkim', verdict ?? 'none', 'header.d', signature?.signingDomain),
    resultOf('dmarc', dmarc ? dmarc.status.result : 'none', 'header.from', dkim.headerFrom?.[0]),
  ]
  const by = helo.replaceAll(/[^a-z0-9.:[\]-]/gi, '')
  return [
    `Authentication-Results: ${server};\r\n ${results.join(';\r\n ')}`,
    `Received: from ${by} (${ip}) by ${server} with ESMTP; ${new Date().toUTCString()}`,
  ]
}

function resultOf(method: string, result: string, property: string, value = ''): string {
  const domain = domainOf(value)
  const verdict = /^[a-z]+$/.test(result) ? result : 'permerror'
  return `${method}=${verdict}${hostPattern.test(domain) ? ` ${property}=${domain}` : ''}`
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}
