import { expect, test } from 'vitest'
import * as z from 'zod'
import { openMailbox, type TestMailbox } from '../support/mailbox.ts'
import { randomUUID } from '../support/seed.ts'
import { start } from '../support/world.ts'

const product = await start()
const { db } = product
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

test('a mail goes out in plain text from the account’s own address, and is listed', async () => {
  const box = await openMailbox(product)
  const to = stranger()

  const { mail_id, ...sent } = await box.sent({ ...order, to: [to] })
  const mail = await arrived(to)

  expect(sent).toMatchObject({ from: box.address, subject: 'Hello' })
  expect(mail).toMatchObject({ from: box.address, subject: 'Hello', text: order.text })
  expect(mail.html).toContain('How are you?\n&lt;b&gt;&amp;')
  expect(mail.headers).toMatchObject({
    from: `${box.agent.alias} <${box.address}>`,
    to,
    'message-id': `<${mail_id}@agents.example>`,
    'auto-submitted': 'auto-generated',
  })
  const { mails } = await box.list({ direction: 'out' })
  expect(mails).toMatchObject([{ mail_id, unread: false, deliveries: [{ to, status: 'sent' }] }])
  const feed = await box.agent.get('/wallet-activity-list?category=mail')
  expect(feed.body['items']).toMatchObject([{ type: 'mail_sent', untrusted: { to } }])
})

test('everyone sees all recipients, and each is sent the mail once', async () => {
  const box = await openMailbox(product)
  const [one, other] = [stranger(), stranger()]

  const { mail_id } = await box.sent({ ...order, to: [one, other, one.toUpperCase()] })

  const [first, second] = [await arrived(one), await arrived(other)]
  expect([first.to, second.to]).toEqual([[one], [other]])
  for (const { headers } of [first, second]) {
    expect(headers['to']?.split(/,\s*/)).toEqual([one, other])
    expect(headers['message-id']).toBe(`<${mail_id}@agents.example>`)
  }
  expect(await product.mails(one)).toHaveLength(1)
})

test('what became of a mail on its way can be read', async () => {
  const box = await openMailbox(product)
  const { mail_id } = await box.sent({ ...order, to: [stranger(), stranger()] })
  const before = await box.read(mail_id)
  await db.sql`update private.outbox set sealed = null, gave_up_at = private.clock(),
    failed_reason = ${'550 5.1.1 No such\u202e user'}
    where carries = ${mail_id} and to_address = ${before.to[0] ?? ''}`

  const { deliveries } = await box.read(mail_id)

  expect(before.deliveries?.map(({ status }) => status)).toEqual(['queued', 'queued'])
  const failed = deliveries?.find(({ to }) => to === before.to[0])
  expect(failed).toMatchObject({
    status: 'failed',
    untrusted: { reason: { text: '550 5.1.1 No such user' } },
  })
  expect(deliveries?.find(({ to }) => to === before.to[1])).not.toHaveProperty('untrusted')
})

test('an answer does not carry the code that is in the subject', async () => {
  const box = await openMailbox(product)
  await db.sql`update private.accounts set shows_codes = true where id = ${box.agent.id}`
  const [from, eve] = [stranger(), stranger()]
  await box.receive({ from, subject: 'Your code is 482913', text: 'It is good for a while.' })
  const { mail_id } = await box.newest()

  await box.sent({ to: [eve], text: 'Look.', reply_to_mail_id: mail_id })

  const mail = await arrived(eve)
  expect(mail.subject).toBe('Re: Your code is [code …]')
  expect(JSON.stringify(mail)).not.toContain('482913')
})

test('nothing that is written becomes another header or another recipient', async () => {
  const box = await openMailbox(product)
  const to = stranger()
  const subject = 'a\r\nBcc: eve@evil.example\r\n\r\nb\u0001\u202e'

  await box.sent({ to: [to], subject, text: '.\r\n.\r\nMAIL FROM:<eve@evil.example>\r\n' })

  const mail = await arrived(to)
  expect(mail).toMatchObject({ subject: 'a Bcc: eve@evil.example b', to: [to] })
  expect(mail.text.replaceAll('\r', '')).toBe('.\n.\nMAIL FROM:<eve@evil.example>\n')
  expect(Object.keys(mail.headers)).not.toContain('bcc')
  for (const evil of ['a@b.example, c@d.example', 'a@b.example\r\nDATA', 'x', '"a b"@c.example']) {
    const answer = await box.send({ ...order, to: [evil] })
    expect([400, 422]).toContain(answer.status)
  }
})

test('no mail is sent to nobody, to the account itself, or about nothing', async () => {
  const box = await openMailbox(product)

  const answers = [
    await box.send({ to: [stranger(), box.address], subject: 'x', text: 'x' }),
    await box.send({ to: [box.address.replace('@', '+x@')], subject: 'x', text: 'x' }),
    await box.send({ subject: 'x', text: 'x' }),
    await box.send({ to: [stranger()], text: 'x' }),
    await box.send({ to: [stranger()], subject: ' \u200b ', text: 'x' }),
  ]

  expect(answers.map(({ body }) => body['error'])).toEqual(Array(5).fill('mail_refused'))
})

test("a stranger's mail is answered as little as one that does not exist", async () => {
  const [box, other] = [await openMailbox(product), await openMailbox(product)]
  await other.receive()
  const { mail_id } = await other.newest()

  const answers = []
  for (const reply_to_mail_id of [mail_id, randomUUID()]) {
    answers.push((await box.send({ text: 'x', reply_to_mail_id })).body)
  }

  expect(answers[0]).toMatchObject({ error: 'mail_not_found' })
  expect({ ...answers[0], request_id: '' }).toEqual({ ...answers[1], request_id: '' })
})

test('what is sent is sealed at rest', async () => {
  const box = await openMailbox(product)
  const { mail_id } = await box.sent({
    to: [stranger()],
    subject: 'canary-subject',
    text: 'canary-text',
  })

  const rows = await db.sql`select m::text as row from private.mails m where id = ${mail_id}
    union all select o::text from private.outbox o where carries = ${mail_id}
    union all select a::text from private.activities a where account = ${box.agent.id}`

  expect(rows).toHaveLength(3)
  expect(JSON.stringify(rows)).not.toContain('canary')
})

test('a mail is entered once, even where the word that it was is lost', async () => {
  const box = await openMailbox(product)
  const to = stranger()
  let isLost = false
  const lossy = product.worker({
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      if (isLost || !new Request(input).url.endsWith('/rpc/send_mail')) return answer
      isLost = true
      throw new TypeError('connection reset')
    },
  })
  const headers = { 'idempotency-key': 'one-mail' }

  const first = await lossy.post(box.agent, '/mail-send', { ...order, to: [to] }, headers)
  const again = await lossy.post(box.agent, '/mail-send', { ...order, to: [to] }, headers)
  const third = await box.send({ ...order, to: [to] }, headers)

  expect([first.status, again.status, third.status]).toEqual([503, 200, 200])
  expect(third.body).toEqual(again.body)
  expect(await product.mails(to)).toHaveLength(1)
  const { mails } = await box.list({ direction: 'out' })
  expect(mails.map(({ mail_id }) => mail_id)).toEqual([again.body['mail_id']])
})

const waiting = z.object({ error: z.string(), retry_after_seconds: z.int() })

async function refusedFor(box: TestMailbox, to: string[]): Promise<number> {
  const answer = await box.send({ ...order, to })
  const { error, retry_after_seconds: seconds } = waiting.parse(answer.body)
  expect([answer.status, error]).toEqual([429, 'mail_limit_reached'])
  return seconds
}

test('one recipient is sent 20 mails an hour and no more, also by many at once', async () => {
  const box = await openMailbox(product)
  const to = [stranger()]

  const answers = await Promise.all(Array.from({ length: 30 }, () => box.send({ ...order, to })))
  const seconds = await refusedFor(box, to)

  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(20)
  expect(seconds).toBeGreaterThan(3_500)
  expect(seconds).toBeLessThanOrEqual(3_600)
  expect((await box.send({ ...order, to: [stranger()] })).status).toBe(200)
  await product.tick(seconds + 1)
  expect((await box.send({ ...order, to })).status).toBe(200)
})

test('an account reaches 100 recipients a day and no more', async () => {
  const box = await openMailbox(product)
  const many = () => Array.from({ length: 10 }, stranger)
  for (let mail = 0; mail < 9; mail += 1) await box.sent({ ...order, to: many() })
  await box.sent({ ...order, to: many().slice(0, 5) })

  const seconds = await refusedFor(box, many())
  await box.sent({ ...order, to: many().slice(0, 5) })

  expect(seconds).toBeGreaterThan(86_300)
  expect(await refusedFor(box, [stranger()])).toBeGreaterThan(86_300)
})

test('a letter that has not left when its key is revoked does not leave any more', async () => {
  const box = await openMailbox(product)
  const to = stranger()
  const { mail_id } = await box.sent({ ...order, to: [to] })

  await db.sql`update private.credentials set revoked_at = private.clock()
    where account = ${box.agent.id}`

  expect(await product.mails(to)).toEqual([])
  const reader = await box.agent.withKey('read')
  const { body } = await reader.get(`/mail-read?mail_id=${String(mail_id)}`)
  expect(JSON.stringify(body)).toContain('"status":"failed"')
})

test('a letter that has not left when the account is frozen waits until it is unfrozen', async () => {
  const box = await openMailbox(product)
  const to = stranger()
  await box.sent({ ...order, to: [to] })
  await box.agent.post('/account-freeze', {})

  const during = await product.mails(to)
  await db.sql`update private.accounts set frozen_at = null where id = ${box.agent.id}`

  expect(during).toEqual([])
  expect(await product.mails(to)).toHaveLength(1)
})
