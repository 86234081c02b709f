/** Sends alarms by mail, through the provider that takes the notices to owners. */
import { randomUUID } from 'node:crypto'
import { readConfig } from '../../shared/env.ts'
import { escapeHtml } from '../../shared/mail/letter.ts'
import { transportOf } from '../../shared/mail/transport.ts'
import type { Tell } from './alarms.ts'
import type { Texts } from './bindings.ts'
import { connect } from './cloudflare/sockets.ts'

const runbook = 'Under "Alarms", scripts/README.md says what to do.'

/** Returns the way to an address, with the values of the service. It rejects if the provider takes no mail. */
export function mailTo(to: string, values: Texts): Tell {
  const config = readConfig(values)
  const send = transportOf(
    {
      config,
      fetch: (...request) => fetch(...request),
      deadline: (milliseconds) => AbortSignal.timeout(milliseconds),
      now: () => new Date(),
    },
    (hostname, port, tls) => connect({ hostname, port }, { secureTransport: tls ? 'on' : 'off' }),
  )
  return async ({ text: subject, ...alarm }) => {
    const text = `${subject}\n\n${JSON.stringify(alarm, null, 2)}\n\n${runbook}\n`
    const html = `<pre>${escapeHtml(text)}</pre>`
    const from = `no-reply@${config.NOTICE_DOMAIN}`
    const mail = { id: randomUUID(), from, to, subject, text, html, createdAt: new Date() }
    const failure = await send(mail)
    if (failure) throw new Error(failure.reason)
  }
}
