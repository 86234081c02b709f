import { expect, test } from 'vitest'
import { mimeMessage } from '../../shared/mail/mime.ts'
import { openOutboxMail } from '../../shared/mail/outbox.ts'
import { byPlatform, deliver } from '../support/inbound.ts'
import { storedMails } from '../support/stored-mail.ts'
import { noticeDomain, start } from '../support/world.ts'

const product = await start()
const { world, db } = product

const mailbox = async () => {
  const agent = await product.agent('read')
  return { ...agent, to: `${agent.alias}@agents.example` }
}
const lines = (...all: string[]) => all.join('\r\n')
const code = ['', 'Your verification code is 482913']
const good =
  'mx.agents.example; spf=pass smtp.mailfrom=bank.example; dkim=pass header.d=bank.example'
const results = (value: string) => `Authentication-Results: ${value}`

test.each([
  ['below that of the receiving server', [results('mx.agents.example; spf=fail'), results(good)]],
  ['that bears another server’s name', [results(good.replace('mx', 'mx2'))]],
  ['in a header of another name', [`X-${results(good)}`, `ARC-${results(good)}`]],
  ['for another domain', [results(good.replaceAll('bank.example', 'bank2.example'))]],
  ['beside a DMARC failure', [results(`${good}; dmarc=fail header.from=bank.example`)]],
])(
  'what a mail claims of itself %s proves nothing, and its code goes nowhere',
  async (_where, claims) => {
    const { id, to } = await mailbox()
    const raw = lines(...claims, 'From: no-reply@bank.example', ...code)

    await byPlatform(world, { to, from: 'no-reply@bank.example', raw })

    const [mail] = await storedMails(product, id)
    expect(mail?.codes).toMatchObject([{ value: '482913', hosts: [] }])
    const rows = await db.sql`select proven_domain from private.mails where account = ${id}`
    expect(rows).toEqual([{ proven_domain: null }])
  },
)

test('what the receiving server found is kept, and the code may go to that host for 15 minutes', async () => {
  const { id, to } = await mailbox()
  await db.setClock(new Date('2026-11-22T10:00:00Z'))
  const found = `${good.replaceAll('bank.example', 'mail.bank.example')}; dmarc=pass
 header.from=login.bank.example`

  await byPlatform(world, {
    to,
    raw: lines(results(found.replace('\n', '\r\n')), 'From: a@login.bank.example', ...code),
  })

  const rows = await db.sql`select m.spf, m.dkim, m.dmarc, m.proven_domain, c.hosts, c.expires_at
    from private.mails m join private.mail_codes c on c.mail = m.id where m.account = ${id}`
  expect(rows).toEqual([
    {
      spf: 'pass',
      dkim: 'pass',
      dmarc: 'pass',
      proven_domain: 'bank.example',
      hosts: ['login.bank.example'],
      expires_at: new Date('2026-11-22T10:15:00Z'),
    },
  ])
})

test('a mail of this service is known as such, and its codes go to no site', async () => {
  const { id, to } = await mailbox()

  for (const from of [
    'Account <no-reply@notices.example>',
    'NO-REPLY@Notices.Example',
    'no-reply@agents.example',
  ]) {
    const text = `Your code is 482913, ${from}`
    await deliver(world, {
      to,
      from,
      subject: 'A code',
      text,
      authenticated: from.toLowerCase().includes('agents') ? 'agents.example' : noticeDomain,
    })
  }

  for (const mail of await storedMails(product, id)) {
    expect(mail).toMatchObject({ ownTopic: 'notice', codes: [{ value: '482913', hosts: [] }] })
  }
})

test('of the mails of this service, the code of a sign-up alone is told apart', async () => {
  const { id, to } = await mailbox()
  const asked = { email: to }
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(asked)
  await product.send('/request-signup-verification', { method: 'POST', headers, body })
  const [waiting] = await db.sql<{ id: string; to_address: string; sealed: string }[]>`
    select id, to_address, sealed from private.outbox where to_address = ${to}`
  if (!waiting) throw new Error('no code was sent')
  const opened = { ...waiting, to: waiting.to_address }
  const { subject, text, html } = await openOutboxMail(world, opened)
  const outgoing = {
    subject,
    text,
    html,
    from: 'Account <no-reply@agents.example>',
    to,
    createdAt: world.now(),
  }

  for (const one of [waiting.id, world.newId()]) {
    const raw = mimeMessage({ ...outgoing, id: one }, 'agents.example')
    await byPlatform(world, { to, from: 'no-reply@agents.example', raw })
  }

  const [first, second] = await storedMails(product, id)
  expect(first).toMatchObject({ ownTopic: 'sign_up_code', codes: [{ kind: 'code', hosts: [] }] })
  expect(text).toContain(first?.codes[0]?.value)
  expect(second?.ownTopic).toBe('notice')
})
