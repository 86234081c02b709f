import { expect, test } from 'vitest'
import { signed } from '../../scripts/local/inbound.ts'
import { mailLimits } from '../../shared/mailbox/receive/parse.ts'
import { mailRefusals } from '../../shared/mailbox/receive/parse-refusals.ts'
import { byWebhook, messageOf } from '../support/inbound.ts'
import { storedMails } from '../support/stored-mail.ts'
import { start } from '../support/world.ts'

const product = await start()
const { world, db } = product
const { alias, id } = await product.agent('read')
const envelope = { mail_from: 'a@mail.example', rcpt_to: `${alias}@agents.example` }
const from = 'a@mail.example'

let count = 0
function mail() {
  count += 1
  const raw = messageOf({ to: 'x', from, subject: `${count}`, text: 'Hello' })
  return { ...envelope, raw_base64: Buffer.from(raw).toString('base64') }
}
const countMails = async () =>
  (await db.sql`select from private.mails where account = ${id}`).length

test('keeps a mail, and a repeated request keeps it once', async () => {
  const body = mail()

  const answers = [await byWebhook(world, body), await byWebhook(world, body)]

  expect(answers).toEqual(Array(2).fill({ status: 200, body: { accepted: true } }))
  expect(await storedMails(product, id)).toHaveLength(1)
})

test('tells before a mail is sent whether its recipient is known', async () => {
  expect(await byWebhook(world, envelope)).toMatchObject({ status: 200, body: { accepted: true } })
  expect(await byWebhook(world, { ...envelope, rcpt_to: 'nobody@agents.example' })).toMatchObject({
    status: 422,
    body: {
      error: 'mail_refused',
      message: 'There is no such mailbox here',
      smtp: '550 5.1.1 There is no such mailbox here',
    },
  })
})

type Forgery = { secret?: string; headers?: Record<string, string>; secondsAway?: number }
test.each<[string, Forgery]>([
  ['another secret', { secret: Buffer.alloc(32, 8).toString('base64') }],
  ['no signature', { headers: { 'webhook-signature': '' } }],
  ['a signature that is none', { headers: { 'webhook-signature': 'v1,' } }],
  ['a signature of zeros', { headers: { 'webhook-signature': `v1,${'A'.repeat(43)}=` } }],
  ['another id', { headers: { 'webhook-id': 'msg_other' } }],
  ['no id', { headers: { 'webhook-id': '' } }],
  ['another time', { headers: { 'webhook-timestamp': `${Math.floor(Date.now() / 1000) + 120}` } }],
  ['no time', { headers: { 'webhook-timestamp': '' } }],
  ['a time that is none', { headers: { 'webhook-timestamp': 'NaN' } }],
  ['a time five minutes ago', { secondsAway: -301 }],
  ['a time in five minutes', { secondsAway: 302 }],
])('a request with %s is nobody’s', async (_what, { secondsAway = 0, ...signing }) => {
  const before = await countMails()

  const at = new Date(world.now().getTime() + secondsAway * 1_000)
  const answer = await byWebhook(world, mail(), { at, ...signing })

  expect(answer).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
  expect(await countMails()).toBe(before)
})

test('one signature that holds is enough, whatever stands beside it', async () => {
  const body = JSON.stringify(mail())
  const headers = signed(world.config.INBOUND_MAIL_SECRET ?? '', body, world.now())
  const old = `v1,${'A'.repeat(43)}= v2,x`

  const answer = await byWebhook(world, body, {
    headers: { ...headers, 'webhook-signature': `${old} ${headers['webhook-signature']}` },
  })

  expect(answer.status).toBe(200)
})

test.each([
  ['no JSON', '{'],
  ['no envelope', { raw_base64: 'YQ==' }],
  ['a mail that is no base64', { ...envelope, raw_base64: '***' }],
])('a request with %s is not read', async (_what, body) => {
  expect(await byWebhook(world, body)).toMatchObject({
    status: 400,
    body: { error: 'invalid_request' },
  })
})

test('the largest mail is kept, and a larger one is refused', async () => {
  const frame = 'From: a@mail.example\r\n\r\n'
  const of = (bytes: number) => frame + 'x'.repeat(bytes - frame.length)
  const encoded = (text: string) => Buffer.from(text).toString('base64')
  const tooLarge = { status: 422, body: { smtp: mailRefusals.too_large } }

  const largest = { ...envelope, raw_base64: encoded(of(mailLimits.bytesMax)) }
  expect(await byWebhook(world, largest)).toMatchObject({ status: 200 })
  const larger = { ...envelope, raw_base64: encoded(of(mailLimits.bytesMax + 1)) }
  expect(await byWebhook(world, larger)).toMatchObject(tooLarge)
  const huge = { ...envelope, raw_base64: 'x'.repeat(20_000_000) }
  expect(await byWebhook(world, huge)).toMatchObject(tooLarge)
})

test('without the database the server is told to try again', async () => {
  const down = product.worker({ fetch: () => Promise.reject(new TypeError('no connection')) })

  expect(await byWebhook(down.world, mail())).toMatchObject({
    status: 503,
    body: { error: 'unavailable', smtp: mailRefusals.unavailable },
  })
})

test('nothing but a POST to its own path is served', async () => {
  expect(await byWebhook(world, '', { method: 'GET' })).toMatchObject({ status: 405 })
})
