/**
 * A code in the address or name of a mail's author is sealed like one in its text, also in the feed, the
 * database and an answer to the mail. An address that only routes answers stays as it is.
 */
import { expect, test } from 'vitest'
import { openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()
const token = 'Xk39dKq02LmZpQ81tRw7'
const about = { subject: 'Your sign-in code', text: 'The code is where you see it.' }

/** Receives a mail, and returns it with everything that agents and tables say of it, in lower case. */
async function receive({ to, ...letter }: { from?: string; to?: string; text?: string }) {
  const box = await openMailbox(product)
  await box.receive({ ...letter, headers: { To: to ?? box.address } })
  const read = await box.newest()
  const feed = await box.agent.get('/wallet-activity-list')
  const rows = await product.db.sql`
    select to_jsonb(m) from private.mails m where m.account = ${box.agent.id}`
  const told = JSON.stringify([read, await box.list(), feed.body, rows]).toLowerCase()
  return { ...box, mail: read, told }
}

test.each([
  ['a number named a token', { from: 'bounce+tok-483920@shop.example' }, '483920'],
  ['a number named a code', { from: 'code.483920@shop.example' }, '483920'],
  ['a token that confirms', { from: `list-confirm+${token}@shop.example` }, token],
  ['a long token', { from: `reply+${token}@shop.example`, ...about }, token],
  ['a token with dashes', { from: 'in-8d3f0a7c-9e1b-2d4f@shop.example', ...about }, '8d3f0a7c'],
  [
    'a number that nothing else tells',
    { from: 'no-reply-483920@shop.example', ...about },
    '483920',
  ],
  [
    'the code of the text',
    { from: 'a-qk7f2m@shop.example', text: 'Your login code is QK7F2M.' },
    'qk7f2m',
  ],
  ['the code in a recipient', { to: 'you+code-483920@shop.example', ...about }, '483920'],
  ['a name with a code', { from: '"Your code: 483920" <a@shop.example>' }, '483920'],
  ['a name that is the code', { from: '"Shop 483920" <a@shop.example>', ...about }, '483920'],
])('%s is not told', async (_, letter, secret) => {
  const { told } = await receive(letter)

  expect(told).not.toContain(secret.toLowerCase())
  expect(told).toContain('shop.example')
})

test.each([
  ['an address that routes answers', `reply+${token}@shop.example`, {}],
  ['the number of an order', 'order-4839201@shop.example', { subject: 'Your order 4839201' }],
  ['a year', 'pin.2026@shop.example', {}],
  ['the beginning of a word', 'keynote2026@shop.example', {}],
  ['a return path', 'bounces+4839201-ann=people.example@shop.example', {}],
  ['a number beside the code', 'no-reply-77@shop.example', { text: 'Your login code is QK7F2M.' }],
])('%s stays and is answered', async (_, from, letter) => {
  const box = await receive({ from, ...letter })
  const { mail } = box

  const answer = await box.sent({ reply_to_mail_id: mail.mail_id, text: 'Thanks.' })

  expect(mail.from.address).toBe(from.toLowerCase())
  expect(answer.deliveries).toMatchObject([{ to: from.toLowerCase() }])
})

test('an address with a code is answered by nobody who may not read it', async () => {
  const box = await receive({ from: 'bounce+tok-483920@shop.example' })
  const { mail } = box
  const order = { reply_to_mail_id: mail.mail_id, text: 'Thanks.' }

  const refused = await box.send(order)
  const answer = await box.sent({ ...order, to: ['help@shop.example'] })

  expect(mail.from.address).toBe(`bounce+tok-[code ${mail.codes[0]?.handle}]@shop.example`)
  expect(refused).toMatchObject({ status: 422, body: { error: 'mail_refused' } })
  expect(JSON.stringify(refused.body)).not.toContain('483920')
  expect(answer).toMatchObject({ subject: 'Re: Hello', deliveries: [{ to: 'help@shop.example' }] })
})
