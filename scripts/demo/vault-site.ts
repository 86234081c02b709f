/** A small site on this machine where people sign up with a password and sign in with a code by mail. */
import { randomInt } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { listen } from '../local/listen.ts'

/** A running site. */
export type Site = {
  /** Origin with a host name, because a mail can be proven to come from names only. */
  origin: string
  /** Returns the secrets that the site knows and the agent must not learn. */
  secrets(): string[]
  close(): Promise<void>
}

/** Opens the site. It mails codes to `member` through the mail server of the world. */
export async function openSite(smtpUrl: string, member: string): Promise<Site> {
  const mail = createTransport(smtpUrl)
  let [password, code] = ['', '']
  const signIn = async () => {
    code = String(randomInt(100_000, 1_000_000))
    await mail.sendMail({
      from: 'Little Site <no-reply@localhost>',
      to: member,
      subject: 'Your sign-in code',
      text: `Your sign-in code is ${code}. It is good for ten minutes.`,
    })
    return page(
      'A code is on its way. <form method="post" action="/code"><input name="code"></form>',
    )
  }
  const pages: Record<string, (form: URLSearchParams) => Response | Promise<Response>> = {
    '/sign-up': (form) => {
      password = form.get('password') ?? ''
      return new Response(`Welcome. Your password is ${password}, keep it well.`)
    },
    '/sign-in': (form) => (form.get('password') === password ? signIn() : refuse()),
    '/code': (form) => (form.get('code') === code ? new Response('You are in.') : refuse()),
  }
  const { port, close } = await listen(async (request) => {
    const { pathname } = new URL(request.url)
    if (request.method === 'GET' && pathname === '/sign-in') return page(signInForm)
    return pages[pathname]?.(new URLSearchParams(await request.text())) ?? refuse()
  })
  return { origin: `http://localhost:${port}`, secrets: () => [password, code], close }
}

const signInForm = `<form method="post" action="/sign-in">
  <input name="username"><input name="password" type="password"></form>`

function page(html: string): Response {
  return new Response(html, { headers: { 'content-type': 'text/html' } })
}

function refuse(): Response {
  return new Response('No.', { status: 403 })
}
