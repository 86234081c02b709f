/**
 * A table of the shapes that a paid answer can have, from merchants of the official packages: in each the
 * books equal the chain, what was delivered reaches the agent or stays to be had, and the words are true.
 */

import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Context } from 'hono'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Answering, expiring, serverThat } from '../support/http.ts'
import { attemptOf, execute, openMarket, prepare, reservedUsd } from '../support/market.ts'
import { openKeepingFront, openOfficialShop } from '../support/official-shop.ts'
import { randomBytes } from '../support/seed.ts'

const market = await openMarket()
const upfront = { paymentFlow: 'upfront' }
const goods = '{"goods":"what was paid for"}'

type Shape = (context: Context) => Response | Promise<Response>
type Row = [
  name: string,
  status: string,
  bytes: Uint8Array<ArrayBuffer>,
  shape: Shape,
  extra?: object,
]

const textOf = (text: string) => new TextEncoder().encode(text)
const answered = (status: number, headers: Record<string, string> = {}): Shape => {
  return () => new Response(goods, { status, headers })
}
const sized =
  (bytes: Uint8Array<ArrayBuffer>): Shape =>
  () =>
    new Response(bytes)
const zeros = (length: number) => new Uint8Array(length)
const noise = new Uint8Array(randomBytes(65_536))

/** Streams chunks, each after the event loop has turned. */
function streamed(
  chunks: readonly string[],
  headers: Record<string, string>,
  broken = false,
): Shape {
  return () => {
    const left = [...chunks]
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve))
        const next = left.shift()
        if (next !== undefined) controller.enqueue(textOf(next))
        else if (broken) controller.error(new Error('broken'))
        else controller.close()
      },
    })
    return new Response(body, { headers })
  }
}

const whole = textOf(goods)
const long = 'naïve 🙂 '.repeat(400_000)
const beginning = { status: 200, body: goods.slice(0, 9), truncated: true }
const elsewhere = { location: 'https://files.example/report.pdf?signature=abc' }

const shapes: Row[] = [
  ...[200, 201, 202, 206].map((status): Row => [`${status}`, 'settled', whole, answered(status)]),
  ['204', 'settled', zeros(0), () => new Response(null, { status: 204 })],
  ...[300, 301, 302, 303, 305, 307, 308].map(
    (status): Row => [`${status}`, 'settled', whole, answered(status, elsewhere)],
  ),
  ['304', 'settled', zeros(0), () => new Response(null, { status: 304, headers: { etag: '"1"' } })],
  ...[400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503].map(
    (status): Row => [
      `${status} after settlement`,
      'paid_not_delivered',
      whole,
      answered(status),
      upfront,
    ],
  ),
  ['chunked', 'settled', textOf('a,b,c'), streamed(['a,', 'b,', 'c'], {})],
  [
    'an event stream',
    'settled',
    textOf('data: 1\n\ndata: 2\n\n'),
    streamed(['data: 1\n\n', 'data: 2\n\n'], { 'content-type': 'text/event-stream' }),
  ],
  ['gzip', 'settled', whole, encoded('gzip', gzipSync(goods))],
  ['br', 'settled', whole, encoded('br', brotliCompressSync(goods))],
  ['0 bytes', 'settled', zeros(0), sized(zeros(0))],
  ['binary', 'settled', noise, sized(noise)],
  ['5 MB of text', 'settled', textOf(long), sized(textOf(long))],
  ['5 MB of zeros', 'settled', zeros(5_000_000), sized(zeros(5_000_000))],
]

function encoded(encoding: string, body: Uint8Array<ArrayBuffer>): Shape {
  return () => new Response(body, { headers: { 'content-encoding': encoding } })
}

/** Answers that do not end well the first time, each with what is known of it then. */
const broken: [string, Answering, string, object | undefined][] = [
  ['never starts', expiring(market), 'merchant_timeout', undefined],
  ['starts and does not end', expiring(market, 'begun', half), 'merchant_timeout', beginning],
  ['is reset in the middle', reset, 'merchant_unreachable', beginning],
  ['is reset at once', (response) => void response.destroy(), 'merchant_unreachable', undefined],
]

function half(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '1000' }).write(goods.slice(0, 9))
}

function reset(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '1000' })
  response.write(goods.slice(0, 9), () => response.destroy())
}

test.concurrent.each(broken)(
  'an answer that %s is had at the next execution',
  async (_, first, code, response) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const shop = await openOfficialShop(market, answered(200))
    const front = await openKeepingFront(shop, first)
    const attempt = attemptOf(await prepare(agent, { resource_url: front.url }))

    const cut = await execute(agent, attempt)
    const whole = await execute(agent, attempt)

    expect(cut.body).toMatchObject({ status: 'paid_not_delivered', reasons: [{ code }] })
    if (response === undefined) expect(cut.body).not.toHaveProperty('response')
    else expect(cut.body).toMatchObject({ response })
    expect(whole.body).toMatchObject({ status: 'settled', response: { body: goods } })
    expect(shop.paid).toHaveLength(1)
    expect(await market.usdcOf(shop.payTo)).toBe(10_000n)
  },
)

test('the beginning of an answer stays when the merchant gives no more', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const shop = await openOfficialShop(market, answered(200))
  let times = 0
  const closed = await serverThat((response, { headers }) => {
    const payment = headers['payment-signature']
    times += payment === undefined ? 0 : 1
    if (times > 1) return void response.writeHead(409).end('{"error":"used"}')
    const sent = payment === undefined ? {} : { 'payment-signature': String(payment) }
    void fetch(shop.url, { headers: sent }).then(async (answer) => {
      if (payment !== undefined) return reset(response)
      const asking = answer.headers.get('payment-required') ?? ''
      response.writeHead(402, { 'payment-required': asking }).end(await answer.text())
    })
  })
  const attempt = attemptOf(await prepare(agent, { resource_url: closed.url }))

  const cut = await execute(agent, attempt)
  const again = await execute(agent, attempt)

  expect(cut.body).toMatchObject({ status: 'paid_not_delivered', response: beginning })
  expect(again.body).toMatchObject({ status: 'paid_not_delivered', response: beginning })
  expect(times).toBe(2)
})

const outcome = z.looseObject({
  response: z.looseObject({
    body: z.string().optional(),
    body_base64: z.string().optional(),
    truncated: z.boolean(),
    next_piece: z.int().optional(),
  }),
})

test.concurrent.each(shapes)('%s is told as %s', async (_, status, bytes, shape, extra = {}) => {
  const agent = await market.agent('pay', { usdc: 1 })
  const shop = await openOfficialShop(market, shape, { ...extra })
  const attempt = attemptOf(await prepare(agent, { resource_url: shop.url }))

  const paid = await execute(agent, attempt)

  expect(paid.body).toMatchObject({ status })
  expect(Buffer.from(await received()).equals(bytes)).toBe(true)
  expect(await market.usdcOf(agent.address)).toBe(990_000n)
  expect(await market.usdcOf(shop.payTo)).toBe(10_000n)
  expect(await reservedUsd(agent)).toBe('0')

  async function received(): Promise<Uint8Array> {
    const pieces: Buffer[] = []
    let { response } = outcome.parse(paid.body)
    for (;;) {
      const { body, body_base64 = '', truncated, next_piece } = response
      pieces.push(body === undefined ? Buffer.from(body_base64, 'base64') : Buffer.from(body))
      expect(truncated).toBe(next_piece !== undefined)
      if (next_piece === undefined) return Buffer.concat(pieces)
      const more = { attempt_id: attempt, response_piece: next_piece }
      response = outcome.parse((await agent.post('/x402-payment-execute', more)).body).response
    }
  }
})

test.each([
  { sent: '{"price":12.5,"id":"12345678901234567890"}', isValue: true },
  { sent: 'null', isValue: true },
  { sent: '{"id":12345678901234567890}', isValue: false },
  { sent: '{"far":1e400}', isValue: false },
  { sent: '{"half', isValue: false },
])('JSON such as $sent is given as a value if it loses nothing', async ({ sent, isValue }) => {
  const agent = await market.agent('pay', { usdc: 1 })
  const headers = { 'content-type': 'application/problem+json; charset=utf-8' }
  const shop = await openOfficialShop(market, () => new Response(sent, { headers }))

  const paid = await execute(agent, attemptOf(await prepare(agent, { resource_url: shop.url })))

  const { response } = outcome.parse(paid.body)
  const value: unknown = isValue ? JSON.parse(sent) : undefined
  expect(response).toMatchObject(isValue ? { body_json: value } : { body: sent })
  expect(Object.keys(response).filter((name) => name.startsWith('body'))).toHaveLength(1)
})
