/**
 * Sends a mail through a provider's HTTPS interface: the one that Resend documents (POST /emails) and
 * others took over. The id of the mail goes along as Idempotency-Key, so a repeat within the
 * provider's day is not sent twice.
 */
import type { Fetch } from '../world.ts'
import type { MailTransport } from './port.ts'

/** Statuses that speak of the mail itself; all others may pass. */
const aboutTheMail = [400, 413, 422]

/** A transport that posts to one address with one token. */
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
    // What it says may repeat the mail, and is not read.
    await answer.body?.cancel()
    if (answer.ok) return undefined
    const forGood = aboutTheMail.includes(answer.status)
    return { reason: `the provider answered ${answer.status}`, forGood, outage: !forGood }
  }
}

/** A provider breaks lines itself, and writes recipient and Message-ID of each mail itself. */
function unfolded(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const lines = Object.entries(headers).filter(([name]) => !['To', 'Message-ID'].includes(name))
  return Object.fromEntries(lines.map(([name, value]) => [name, value.replaceAll('\r\n', '')]))
}
