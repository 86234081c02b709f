/** Answers: whom they reach, and which mails they name. */
import { expect, test } from 'vitest'
import { openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()
const order = { to: ['ann@people.example'], subject: 'Hello', text: 'How are you?\n<b>&\n' }

let strangers = 0
/** Returns an address that nobody else writes to. */
function stranger(): string {
  strangers += 1
  return `stranger-${strangers}@people.example`
}

async function arrived(to: string) {
  const mails = await product.mails(to)
  const last = mails.at(-1)
  if (!last) throw new Error(`nothing came to ${to}`)
  return last
}

test('an answer goes to whoever wrote, under the same subject, in the same thread', async () => {
  const box = await openMailbox(product)
  const from = stranger()
  const references = '<1@people.example>\r\n <2@people.example>'
  const headers = { 'Message-ID': '<3@people.example>', References: references }
  await box.receive({ from: `Ann <${from}>`, subject: 'RE: Aw: Grüße', headers })
  const { mail_id } = await box.newest()

  await box.sent({ text: 'Thanks.', reply_to_mail_id: mail_id })

  const { subject, headers: seen } = await arrived(from)
  expect(subject).toBe('Re: Grüße')
  expect(seen['in-reply-to']).toBe('<3@people.example>')
  expect(seen['references']?.split(/\s+/)).toEqual([1, 2, 3].map((n) => `<${n}@people.example>`))
  expect(seen['auto-submitted']).toBe('auto-replied')
})

test('a mail of one’s own is followed by one to the same recipients', async () => {
  const box = await openMailbox(product)
  const to = stranger()
  const first = await box.sent({ ...order, to: [to] })

  const second = await box.sent({ text: 'And?', reply_to_mail_id: first.mail_id })

  expect(second).toMatchObject({ subject: 'Re: Hello', deliveries: [{ to }] })
  const answers = (await product.mails(to)).filter(({ subject }) => subject === 'Re: Hello')
  expect(answers.map(({ headers }) => headers['in-reply-to'])).toEqual([
    `<${first.mail_id}@agents.example>`,
  ])
  expect(await box.read(second.mail_id)).toMatchObject({ in_reply_to_mail_id: first.mail_id })
})

test('an answer to somebody else names no mail of a stranger, whose id may repeat a token', async () => {
  const box = await openMailbox(product)
  const [from, eve, token] = [stranger(), stranger(), 'kqzwxvbtrm']
  const text = `Reset your password: https://shop.example/reset?token=${token}`
  const first = { 'Message-ID': `<reset-${token}@shop.example>` }
  await box.receive({ from, subject: 'Reset your password', text, headers: first })
  const reset = await box.newest()
  const next = { 'Message-ID': '<next@shop.example>', References: first['Message-ID'] }
  await box.receive({ from, subject: 'Hello', headers: next })
  const { mail_id } = await box.newest()

  for (const reply_to_mail_id of [reset.mail_id, mail_id]) {
    await box.sent({ to: [eve], text: 'Look.', reply_to_mail_id })
  }

  const mails = await product.mails(eve)
  expect(mails.map(({ headers }) => headers['in-reply-to'])).toEqual([undefined, undefined])
  expect(JSON.stringify(mails)).not.toContain(token)
})

test('an answer to all who had a mail keeps the thread', async () => {
  const box = await openMailbox(product)
  const [from, other] = [stranger(), stranger()]
  const headers = { 'Message-ID': '<3@people.example>', Cc: other }
  await box.receive({ from, subject: 'Lunch', headers })
  const { mail_id } = await box.newest()

  await box.sent({ to: [from, other], text: 'Fine.', reply_to_mail_id: mail_id })

  const mails = [await arrived(from), await arrived(other)]
  expect(mails.map((mail) => mail.headers['in-reply-to'])).toEqual(
    mails.map(() => '<3@people.example>'),
  )
})
