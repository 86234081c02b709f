/** Mail of an agent never passes for a notice, whoever receives notices. */
import { expect, test } from 'vitest'
import { readConfig } from '../../shared/env.ts'
import { openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()
const order = { subject: 'Approve a payment of 12 USDC?', text: 'Open <evil.example> and approve.' }

let people = 0

/** Returns a mailbox whose owner has an account, under this spelling of the address. */
async function ownerOf(spelling: (name: string) => string): Promise<string> {
  const { id } = await product.agent('pay')
  people += 1
  const email = spelling(`ann.owner${people}`)
  await product.db.sql`insert into private.owners (account, email) values (${id}, ${email})`
  return `ann.owner${people}`
}

test.each([
  ['as the account has it', (name: string) => `${name}@people.example`, '@people.example'],
  ['with a label', (name: string) => `${name}@people.example`, '+pay@people.example'],
  ['in capitals', (name: string) => `${name}@people.example`, '@PEOPLE.example'],
  ['with dots that count', (name: string) => `${name.replace('.', '')}@gmail.com`, '@gmail.com'],
  ['at the other name of a host', (name: string) => `${name}@gmail.com`, '@googlemail.com'],
])('a mail to an owner, %s, says first that an agent wrote it', async (_how, spelling, rest) => {
  const box = await openMailbox(product)
  const to = `${await ownerOf(spelling)}${rest}`

  await box.sent({ ...order, to: [to] })

  const [mail] = await product.mails(to.toLowerCase())
  const mark = `An AI agent wrote this email: ${box.address}. It is no notice about your account. Those come from no-reply@notices.example.`
  expect(mail?.text).toBe(`${mark}\n\n${order.text}`)
  expect(mail?.html).toMatch(/<body><p [^>]*>An AI agent wrote this email: /)
  expect(mail?.html).toContain('Open &lt;evil.example&gt; and approve.')
})

test('an agent cannot tell by its answer whether somebody owns an account', async () => {
  const box = await openMailbox(product)
  const owner = `${await ownerOf((name) => `${name}@people.example`)}@people.example`
  const answers = []
  for (const to of [owner, 'nobody-of-us@people.example']) {
    const { mail_id: _, at: _at, ...answer } = await box.sent({ ...order, to: [to] })
    await product.mails(to)
    const { mails } = await box.list({ direction: 'out', limit: '1' })
    answers.push(JSON.stringify({ answer, kept: mails[0]?.deliveries }).replaceAll(to, 'TO'))
  }

  expect(answers[0]).toBe(answers[1])
  expect(await product.mails('nobody-of-us@people.example')).toMatchObject([{ text: order.text }])
})

test('notices and agents never share a domain', () => {
  const names = { BASE_URL: 'https://service.example', WEB_URL: 'https://service.example/web' }
  const database = { SUPABASE_URL: 'https://project.supabase.co', SUPABASE_API_KEY: 'key' }
  const domains = { MAIL_DOMAIN: 'agents.example', NOTICE_DOMAIN: 'Agents.example' }

  expect(() => readConfig({ ...names, ...database, ...domains })).toThrow('NOTICE_DOMAIN')
})
