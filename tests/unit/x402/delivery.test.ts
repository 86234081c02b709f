import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { FrozenRequest } from '../../../shared/x402/challenge.ts'
import { fetchUnpaid, headersKept, sendPaid } from '../../../shared/x402/delivery.ts'
import { answering, expiring, outside, serverThat, zeros } from '../../support/http.ts'
import { challengeV2, headerOf } from '../../support/x402.ts'

const payment = [['payment-signature', 'c2lnbmVk']] as const
const body = Buffer.from([0, 250, 255, 10, 13])
const megabyte = 1_048_576
const bytes = (text: string) => new TextEncoder().encode(text)

function requestTo(url: string, changes: Partial<FrozenRequest> = {}): FrozenRequest {
  return { url, method: 'GET', headers: [], body_base64: null, ...changes }
}

test('the paid request is the asking one with the payment added, byte for byte', async () => {
  const server = await serverThat(answering(402, { 'payment-required': headerOf(challengeV2()) }))
  const request = requestTo(`${server.url}data?a=%26&b=%C3%A9`, {
    method: 'PUT',
    headers: [
      ['authorization', 'Bearer of the agent'],
      ['content-type', 'application/x-own'],
    ],
    body_base64: body.toString('base64'),
  })

  await fetchUnpaid(outside(), request)
  await sendPaid(outside(), request, payment, 60)

  const [asked, paid] = server.received
  expect(asked).toMatchObject({ method: 'PUT', url: '/data?a=%26&b=%C3%A9', body })
  expect(asked?.headers).not.toHaveProperty('payment-signature')
  expect(paid).toEqual({
    ...asked,
    headers: { ...asked?.headers, 'payment-signature': 'c2lnbmVk' },
  })
})

test('a request without a body sends none', async () => {
  const server = await serverThat(answering(200))

  await sendPaid(outside(), requestTo(server.url, { method: 'DELETE' }), payment, 60)

  expect(server.received[0]).toMatchObject({ method: 'DELETE', body: Buffer.alloc(0) })
})

test('a challenge may take 8 seconds and 256 KB, a delivery the time of the offer and 8 MB', async () => {
  const server = await serverThat(zeros(9 * megabyte))
  const world = outside()

  const fetched = [
    await fetchUnpaid(world, requestTo(server.url)),
    await sendPaid(world, requestTo(server.url), payment, 60),
    await sendPaid(world, requestTo(server.url), payment, 300),
  ]

  // 100 seconds at most, so that an exchange over MCP, which takes two minutes at most, ends in time.
  expect(world.deadlines).toEqual([8_000, 60_000, 100_000])
  expect(fetched).toMatchObject([{ truncated: true }, { truncated: true }, { truncated: true }])
  expect(fetched.map((each) => each.kind === 'answered' && each.body.byteLength)).toEqual([
    262_144, 8_388_608, 8_388_608,
  ])
})

test('a payment is never shown to the place that a redirect names', async () => {
  const thief = await serverThat(answering(200))
  const server = await serverThat(answering(307, { location: thief.url }))

  const fetched = await sendPaid(outside(), requestTo(server.url), payment, 60)

  expect(fetched).toMatchObject({ kind: 'answered', status: 307 })
  expect([thief.received.length, server.received.length]).toEqual([0, 1])
})

test('a merchant that takes the payment and falls silent is a timeout, sent once', async () => {
  const world = outside()
  const server = await serverThat(expiring(world))

  const fetched = await sendPaid(world, requestTo(server.url), payment, 60)

  expect(fetched).toEqual({ kind: 'timeout' })
  expect(server.received).toHaveLength(1)
})

test('an address that may not be fetched any more sees no payment', async () => {
  const server = await serverThat(answering(200))

  const fetched = await sendPaid(
    outside({ allowLoopback: false }),
    requestTo(server.url),
    payment,
    60,
  )

  expect(fetched).toMatchObject({ kind: 'refused' })
  expect(server.received).toEqual([])
})

test('of the headers those are kept that an agent has a use for, each at most 16 KB', () => {
  const headers = new Headers({
    'Content-Type': 'text/plain',
    ETag: '"1"',
    'PAYMENT-RESPONSE': 'e30=',
    'Set-Cookie': 'session=1',
    Server: 'x',
    'Clear-Site-Data': '*',
    Link: 'x'.repeat(17_000),
  })

  expect(headersKept(headers, 'https://merchant.com/a/b')).toEqual({
    'content-type': 'text/plain',
    etag: '"1"',
    link: 'x'.repeat(16_384),
    'payment-response': 'e30=',
  })
})

test.each([
  ['/report.pdf?signature=abc', 'https://merchant.com/report.pdf?signature=abc'],
  ['../c', 'https://merchant.com/c'],
  ['//files.example/report.pdf', 'https://files.example/report.pdf'],
  ['https://files.example/report.pdf#page=2', 'https://files.example/report.pdf#page=2'],
  ['http://[', 'http://['],
])('Location %s is passed on as %s', (location, whole) => {
  const kept = headersKept(new Headers({ location }), 'https://merchant.com/a/b')

  expect(kept).toEqual({ location: whole })
})

test('a paid answer is taken as the platform decodes it, and of a broken one what arrived', async () => {
  const zipped = gzipSync('what was paid for')
  const whole = await serverThat(answering(200, { 'content-encoding': 'gzip' }, zipped))
  const half = await serverThat((response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('what was', () => response.destroy())
  })

  const answers = [
    await sendPaid(outside(), requestTo(whole.url), payment, 60),
    await sendPaid(outside(), requestTo(half.url), payment, 60),
  ]

  const broken = { status: 200, body: bytes('what was'), truncated: true }
  expect(answers).toMatchObject([
    { kind: 'answered', body: bytes('what was paid for'), truncated: false },
    { kind: 'unreachable', begun: broken },
  ])
})
