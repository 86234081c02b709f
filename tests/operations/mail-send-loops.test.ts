import { expect, test } from 'vitest'
import { openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()

test.each([
  ['another program', { headers: { 'Auto-Submitted': 'auto-replied (vacation)' } }],
  ['a server that could not deliver', { envelopeFrom: '' }],
  ['a program by an older header', { headers: { Precedence: 'auto_reply' } }],
  ['a sender of many', { headers: { Precedence: 'bulk' } }],
  ['a list by its precedence', { headers: { Precedence: 'List' } }],
  ['a sender of junk', { headers: { Precedence: 'junk' } }],
  ['a program that says so twice', { headers: { 'X-Autoreply': 'yes', 'Auto-Submitted': 'no' } }],
  ['an Exchange server', { headers: { 'X-Auto-Response-Suppress': 'DR, OOF, AutoReply' } }],
  ['a list', { headers: { 'List-Id': 'Announcements <announce.shop.example>' } }],
  ['a server with an empty return path', { headers: { 'Return-Path': '<>' } }],
  ['this service', { from: 'no-reply@agents.example', headers: { 'Auto-Submitted': 'yes' } }],
])('a mail that %s sent by itself is not answered', async (_who, letter) => {
  const box = await openMailbox(product)
  await box.receive(letter)
  const { mail_id, automatic } = await box.newest()

  const answer = await box.send({ text: 'Thanks.', reply_to_mail_id: mail_id })

  expect(automatic).toBe(true)
  expect(answer).toMatchObject({ status: 422, body: { error: 'mail_refused' } })
})

test('a mail of a person is answered, whatever else its headers say', async () => {
  const box = await openMailbox(product)
  const headers = {
    'Auto-Submitted': 'no',
    Precedence: 'first-class',
    'X-Auto-Response-Suppress': 'None',
    'Return-Path': '<person@shop.example>',
  }
  await box.receive({ headers })
  const { mail_id, automatic } = await box.newest()

  const answer = await box.send({ text: 'Thanks.', reply_to_mail_id: mail_id })

  expect([automatic, answer.status]).toEqual([false, 200])
})

test('two accounts here answer each other until the thread is too long', async () => {
  const [ann, bob] = [await openMailbox(product), await openMailbox(product)]
  const first = await ann.sent({ to: [bob.address], subject: 'Hello', text: 'Hello.' })
  await bob.receive({
    from: ann.address,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'Message-ID': `<${first.mail_id}@agents.example>`,
    },
  })
  const received = await bob.newest()
  const answered = await bob.sent({ text: 'Hello.', reply_to_mail_id: received.mail_id })
  await ann.receive({
    from: bob.address,
    headers: {
      'Message-ID': `<${answered.mail_id}@agents.example>`,
      'In-Reply-To': `<${first.mail_id}@agents.example>`,
      'Auto-Submitted': 'auto-replied',
    },
  })
  const { mail_id, in_reply_to_mail_id: named } = await ann.newest({ direction: 'in' })
  await product.db.sql`update private.mails set own_before = 49 where id = ${first.mail_id}`

  const last = await ann.send({ text: 'Hello.', reply_to_mail_id: mail_id })
  await product.db.sql`update private.mails set own_before = 50 where id = ${first.mail_id}`
  const next = await ann.send({ text: 'Hello.', reply_to_mail_id: mail_id })

  expect(named).toBe(first.mail_id)
  expect(last.status).toBe(200)
  expect(next).toMatchObject({ status: 422, body: { error: 'mail_refused' } })
})
