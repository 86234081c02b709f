/** A login and a code that an agent uses and never reads, at a site that sends codes by mail. */
import { randomInt } from 'node:crypto'
import { createTransport } from 'nodemailer'
import type { AccountClient } from '../client/index.ts'
import { listen } from '../local/process/listen.ts'
import { describeRefusal, mustBe, type WorldFile } from './client.ts'
import { signInOwner } from './owner-browser.ts'

/** Signs up and signs in at a site and checks that the agent sees neither the password nor the code. */
export async function useSecrets(world: WorldFile, agent: AccountClient): Promise<void> {
  console.log('\nA login and a mailed code that the agent uses and never reads')
  const { mail_address } = await agent.getIdentity()
  const site = await openSite(world.mail.smtp_url, mail_address)
  try {
    await signInToSite(world, agent, site)
  } finally {
    await site.close()
  }
}

async function signInToSite(world: WorldFile, agent: AccountClient, site: Site): Promise<void> {
  const login = { site: site.origin, username: 'demo' }
  const { credential_id } = await agent.vaultGenerate(login)
  const signUp = () => {
    const place = { where: 'form_field', name: 'password', secret: 'password' } as const
    return agent.vaultUse({ credential_id, method: 'POST', path: '/sign-up', inject: [place] })
  }
  const welcome = await signUp()
  const { status, body } = welcome.response
  mustBe('what the agent is shown of the answer', `${status} ${body}`, '200 ')

  const began = new Date().toISOString()
  const { session, filled, asks } = await agent.vaultLogin({ credential_id, path: '/sign-in' })
  mustBe('what the form was filled in with', filled.join(), 'username,password')
  mustBe('what the site asks for next', asks?.join(), 'code')
  const { mail } = await agent.mailWait({ from: 'localhost', since: began })
  const handle = mail?.codes[0]?.handle ?? 'none'
  const { untrusted } = await agent.mailRead({ mail_id: mail?.mail_id ?? '' })
  const sealed = `Your sign-in code is [code ${handle}, 6 digits]. It is good for ten minutes.`
  mustBe('what the mail says to the agent', untrusted.text?.text.trim(), sealed)
  const shown = JSON.stringify([welcome, untrusted])
  const isSeen = site.secrets().some((secret) => shown.includes(secret))
  mustBe('whether the agent saw password or code', isSeen, false)

  const enter = () => agent.vaultSession({ session, secret: `mail.${handle}` })
  const alone = await describeRefusal(enter())
  mustBe('the code, in a login that only the agent named', alone, '403 code_needs_owner')
  const page = `${world.web_url}/vault/${credential_id}`
  await (await signInOwner(world)).send(`${page}/codes`, { wanted: 'yes' }, page)
  console.log('  the owner lets the login take codes')
  const inside = await enter()
  mustBe('the status of the answer to the code', inside.response.status, 200)
  const again = await describeRefusal(enter())
  mustBe('the code, used again', again, '404 code_not_found')
  await agent.vaultDelete({ credential_id })
}

/** A running site. */
type Site = {
  /** Origin with a host name, because a mail can be proven to come from names only. */
  origin: string
  /** Returns the secrets that the site knows and the agent must not learn. */
  secrets(): string[]
  close(): Promise<void>
}

/** Opens the site. It mails codes to `member` through the mail server of the world. */
async function openSite(smtpUrl: string, member: string): Promise<Site> {
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
    '/sign-in': (form) => (form.get('password') === password ? signIn() : refuseVisit()),
    '/code': (form) => (form.get('code') === code ? new Response('You are in.') : refuseVisit()),
  }
  const { port, close } = await listen(async (request) => {
    const { pathname } = new URL(request.url)
    if (request.method === 'GET' && pathname === '/sign-in') return page(signInForm)
    return pages[pathname]?.(new URLSearchParams(await request.text())) ?? refuseVisit()
  })
  return { origin: `http://localhost:${port}`, secrets: () => [password, code], close }
}

const signInForm = `<form method="post" action="/sign-in">
  <input name="username"><input name="password" type="password"></form>`

function page(html: string): Response {
  return new Response(html, { headers: { 'content-type': 'text/html' } })
}

function refuseVisit(): Response {
  return new Response('No.', { status: 403 })
}
