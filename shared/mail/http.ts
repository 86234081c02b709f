/**
 * Sends a mail through a provider's HTTPS API: the one that Resend documents (POST /emails) and that
 * others adopted. The id of the mail is sent as Idempotency-Key, so a retry within the provider's day
 * is not sent twice.
 */
import type { Fetch } from '../world.ts'
import type { MailTransport } from './port.ts'

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
