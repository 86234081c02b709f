/** Alarms reach the address of the operator, each of them once. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Listening, listen } from '../../scripts/local/process/listen.ts'
import { mailTo } from '../../scripts/serve/alarm-mail.ts'
import { openAlarms, postTo } from '../../scripts/serve/alarms.ts'
import { textWith } from '../support/matching.ts'

let receiver: Listening
let received: unknown[] = []
let status = 200
beforeAll(async () => {
  receiver = await listen(async (request) => {
    received.push(await request.json())
    return new Response(null, { status })
  })
})
afterAll(() => receiver.close())
beforeEach(() => {
  received = []
  status = 200
})

const low = { alarm: 'relayer_low', chain: 'eip155:8453', address: '0xa', wei: '5' }

test('the same alarm is told once, and lines that are no alarms never', async () => {
  const hear = openAlarms(postTo(receiver.url), () => {})

  hear('ready on http://127.0.0.1')
  hear('{"operation":"deposits","log":"no word"}')
  hear('{"alarm":')
  hear(JSON.stringify(low))
  hear(JSON.stringify({ ...low, wei: '4' }))
  hear(JSON.stringify({ ...low, address: '0xb' }))

  await expect.poll(() => received.length).toBe(2)
  expect(received).toContainEqual({ text: 'Alarm relayer_low: 0xa', ...low })
  expect(received).toContainEqual({ text: 'Alarm relayer_low: 0xb', ...low, address: '0xb' })
})

test('an alarm that could not be sent is sent at its next line', async () => {
  const said: string[] = []
  const hear = openAlarms(postTo(receiver.url), (line) => said.push(line))
  status = 500

  hear(JSON.stringify(low))
  await expect.poll(() => said).toEqual(['an alarm could not be sent: Error: status 500'])
  status = 200
  hear(JSON.stringify(low))

  await expect.poll(() => received.length).toBe(2)
})

test('an alarm comes by mail through the provider of the service, which an operator reads without a terminal', async () => {
  const values = {
    BASE_URL: 'https://account.example',
    WEB_URL: 'https://account.example/web',
    MAIL_DOMAIN: 'account.example',
    NOTICE_DOMAIN: 'notices.account.example',
    MAIL_URL: receiver.url,
    MAIL_TOKEN: 'secret',
    ENVIRONMENT: 'local',
  }
  const hear = openAlarms(mailTo('ann@people.example', values), () => {})

  hear(JSON.stringify({ ...low, wei: '<b>' }))
  hear(JSON.stringify(low))

  await expect.poll(() => received.length).toBe(1)
  expect(received[0]).toMatchObject({
    from: 'no-reply@notices.account.example',
    to: ['ann@people.example'],
    subject: 'Alarm relayer_low: 0xa',
    text: textWith('"chain": "eip155:8453"'),
    html: textWith('&lt;b'),
  })
})
