/**
 * The outbox page of the local world: the caught mails, newest first, each as text and as it looks. The
 * HTML of a mail is shown in a frame without any permission. `/messages?to=` returns the mails as JSON.
 */
import { html, raw } from 'hono/html'
import type { CaughtMail } from './caught-mail.ts'

type Html = ReturnType<typeof html>

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
}

const style = raw(`<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { width: 100%; border-collapse: collapse }
th, td { text-align: left; padding: .5rem; border-bottom: 1px solid #8884; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid #8884 }
iframe { width: 100%; height: 30rem; border: 1px solid #8884; background: canvas }
</style>`)

/** Returns the handler of the outbox page, which calls `caught` for each request. */
export function outboxPages(caught: () => readonly CaughtMail[]) {
  return async (request: Request): Promise<Response> => {
    const { hostname, pathname, searchParams } = new URL(request.url)
    // Without this check, a page whose own host name points here could read the codes (DNS rebinding).
    if (!['127.0.0.1', 'localhost'].includes(hostname)) return new Response(null, { status: 421 })
    if (pathname === '/') return page('Outbox', list(caught().toReversed()))
    if (pathname === '/messages') {
      const to = searchParams.get('to')
      return Response.json(caught().filter((mail) => to === null || mail.to.includes(to)))
    }
    const [, number] = /^\/messages\/(\d+)$/.exec(pathname) ?? []
    const mail = caught().find((one) => String(one.number) === number)
    return mail
      ? page(mail.subject, one(mail))
      : page('No such mail', html`<p>It was not kept.</p>`)
  }
}

async function page(title: string, body: Html): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>${style}</head><body><p><a href="/">Outbox</a></p><h1>${title}</h1>${body}</body></html>`
  return new Response(String(text), { headers })
}

function list(mails: readonly CaughtMail[]): Html {
  if (mails.length === 0) return html`<p>No mail was sent yet.</p>`
  const rows = mails.map(
    ({ number, to, subject }) =>
      html`<tr><td>${to.join(', ')}</td><td><a href="/messages/${number}">${subject}</a></td></tr>`,
  )
  return html`<table><thead><tr><th scope="col">To</th><th scope="col">Subject</th></tr></thead>
<tbody>${rows}</tbody></table>`
}

function one(mail: CaughtMail): Html {
  return html`<p>From ${mail.from} to ${mail.to.join(', ')}</p>
<h2>As text</h2><pre>${mail.text}</pre>
<h2>As HTML</h2><iframe title="The mail as HTML" sandbox srcdoc="${mail.html}"></iframe>`
}
