/**
 * The answer to a paid request reaches the agent, and a dependency that fails meanwhile costs nothing
 * twice.
 */
import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { Fetch } from '../../shared/world.ts'
import { type Answering, answering, serverThat } from '../support/http.ts'
import { attemptOf, execute, openMarket, pay, prepare, reservedUsd } from '../support/market.ts'
import { anyText, textWith } from '../support/matching.ts'
import { randomBytes } from '../support/seed.ts'
import type { Agent } from '../support/world.ts'

const market = await openMarket()
const { hostile, chain } = market
const usd = 1_000_000n
const network = fetch
afterEach(mend)

const bodyMax = 393_216
const responseBody = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  body_base64: z.string().optional(),
  truncated: z.boolean(),
})

/** Returns a challenge that the agent brings, for a server that never asks for payment itself. */
function offered(url: string, amount = '10000') {
  const { payTo } = hostile
  const offer = { scheme: 'exact', network: chain.network, asset: chain.usdc, payTo, amount }
  return { resource_url: url, x402Version: 2, accepts: [{ ...offer, maxTimeoutSeconds: 300 }] }
}

async function responseOf(agent: Agent, answer: Answering) {
  const shop = await serverThat(answer)
  const paid = await pay(agent, offered(shop.url))
  return responseBody.parse(paid.body['response'])
}

/** Drops the product's requests whose address or body contains one of these texts. */
function cut(...texts: string[]) {
  const without: Fetch = (input, init) => {
    const address = input instanceof Request ? input.url : String(input)
    const body = typeof init?.body === 'string' ? init.body : ''
    const isLost = texts.some((text) => address.includes(text) || body.includes(text))
    return isLost ? Promise.reject(new Error('connection lost')) : network(input, init)
  }
  // The database keeps the network it was opened with; all other code takes the world's.
  if (texts.some((text) => text.startsWith('/rpc/'))) vi.stubGlobal('fetch', without)
  else market.world.fetch = without
}

function mend() {
  vi.unstubAllGlobals()
  market.world.fetch = network
}

test('passes on status, useful headers and text of the merchant, and no cookie', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const headers = { 'content-type': 'text/plain', etag: '"1"', 'set-cookie': 'a=b', server: 'x' }

  const response = await responseOf(agent, answering(201, headers, 'naïve 🙂'))

  expect(response).toEqual({
    status: 201,
    headers: { 'content-type': 'text/plain', etag: '"1"' },
    body: 'naïve 🙂',
    truncated: false,
  })
})

test.each([
  ['bytes that are no text', 'base64', Buffer.from([0xff, 0xfe, 0x00, 0x80])],
  ['bytes that JSON would blow up', 'base64', Buffer.alloc(1000, 1)],
  ['a byte order mark', 'text', Buffer.from('\ufefftext')],
  ['nothing', 'text', Buffer.alloc(0)],
])('a body of %s comes back as %s', async (_name, form, sent) => {
  const agent = await market.agent('pay', { usdc: 1 })

  const { body, body_base64, truncated } = await responseOf(agent, answering(200, {}, sent))

  expect(body === undefined ? 'base64' : 'text').toBe(form)
  expect(Buffer.from(body ?? body_base64 ?? '', form === 'text' ? 'utf8' : 'base64')).toEqual(sent)
  expect(truncated).toBe(false)
})

test.each([
  ['text', 'text', Buffer.from(`x${'é'.repeat(bodyMax)}`)],
  ['quotes', 'base64', Buffer.alloc(2 * bodyMax, '"')],
  ['control characters', 'base64', Buffer.alloc(2 * bodyMax, 1)],
  ['random bytes', 'base64', Buffer.from(randomBytes(65_536))],
])(
  'a long body of %s is cut at the limit and kept, with an Idempotency-Key too',
  async (_, form, sent) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const shop = await serverThat(answering(200, {}, sent))
    const attempt = attemptOf(await prepare(agent, offered(shop.url)))
    const body = { attempt_id: attempt, user_confirmed: true }
    const key = { 'idempotency-key': 'once' }

    const first = await agent.post('/x402-payment-execute', body, key)
    const second = await agent.post('/x402-payment-execute', body, key)

    const response = responseBody.parse(first.body['response'])
    const bytes = Buffer.from(
      response.body ?? response.body_base64 ?? '',
      response.body === undefined ? 'base64' : 'utf8',
    )
    expect(response.body === undefined ? 'base64' : 'text').toBe(form)
    expect(bytes).toEqual(sent.subarray(0, bytes.length))
    expect(bytes.length).toBeGreaterThan(Math.min(sent.length, bodyMax) - 4)
    expect(response.truncated).toBe(sent.length > bodyMax)
    expect(second.body).toEqual(first.body)
  },
)

test('pieces of a long answer are read by the key that paid, and only those that exist', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const other = await agent.withKey('full')
  const shop = await serverThat(answering(200, {}, Buffer.alloc(2 * bodyMax, 'x')))
  const attempt_id = attemptOf(await prepare(agent, offered(shop.url)))
  const read = (reader: Agent, response_piece: number) =>
    reader.post('/x402-payment-execute', { attempt_id, response_piece })

  const early = await read(agent, 1)
  const first = await execute(agent, attempt_id)
  const second = await read(agent, 1)
  const others = [await read(other, 1), await read(agent, 2)]

  expect(early).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(first.body['response']).toMatchObject({ truncated: true, next_piece: 1 })
  expect(second.body['response']).toMatchObject({ truncated: false, body: 'x'.repeat(bodyMax) })
  expect(second.body['response']).not.toHaveProperty('next_piece')
  expect(others).toMatchObject([
    { status: 409, body: { error: 'payment_closed' } },
    { status: 400, body: { error: 'invalid_request' } },
  ])
  expect(shop.received).toHaveLength(1)
})

test('the hash of another payment is not taken for the settlement of this one', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const earlier = await pay(agent, { resource_url: `${hostile.url}/settled/ok` })
  const { tx_hash } = z.object({ tx_hash: z.string() }).parse(earlier.body)
  const claim = btoa(JSON.stringify({ success: true, transaction: tx_hash, network: 'base' }))
  const shop = await serverThat(answering(200, { 'payment-response': claim }, '{}'))

  const answer = await pay(agent, offered(shop.url))

  expect(answer.body).toMatchObject({ status: 'unknown', reserved_until: anyText })
  expect(answer.body).not.toHaveProperty('tx_hash')
  expect(await reservedUsd(agent)).toBe('0.01')
})

test('new terms after the payment are named and never signed', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { x402Version, accepts } = offered('', '20000')
  const dearer = JSON.stringify({ x402Version, accepts })
  const shop = await serverThat(answering(402, {}, dearer))

  const answer = await pay(agent, offered(shop.url))

  expect(answer.body).toMatchObject({
    reasons: [{ code: 'terms_changed' }, { code: 'not_settled_yet' }],
  })
  expect(shop.received).toHaveLength(1)
  expect(await reservedUsd(agent)).toBe('0.01')
})

test('with its node down for half a minute nothing is signed, sent or reserved', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const shop = await serverThat(answering(200))
  const attempt = attemptOf(await prepare(agent, offered(shop.url)))
  cut(chain.rpcUrl)
  await market.tick(31)

  const answer = await execute(agent, attempt)

  mend()
  expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(shop.received).toEqual([])
  expect(await reservedUsd(agent)).toBe('0')
})

test('a node that fails after the payment was sent leaves it unknown until it answers', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(
    await prepare(agent, { resource_url: `${hostile.url}/settled/ok?dark` }),
  )
  // Only the proof requests receipts and logs.
  cut('eth_getTransactionReceipt', 'eth_getLogs')

  const during = await execute(agent, attempt)
  mend()
  const after = await execute(agent, attempt)

  expect(during.body).toMatchObject({ status: 'unknown', response: { status: 200 } })
  expect(after.body).toMatchObject({ status: 'settled', tx_hash: anyText })
})

test('when the outcome cannot be kept, the same signature is what is sent again', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const path = '/settled/ok'
  const attempt = attemptOf(await prepare(agent, { resource_url: `${hostile.url}${path}?lost` }))
  const sentBefore = hostile.received(path).length
  cut('/rpc/housekeeping_finish_attempt')

  const lost = await execute(agent, attempt)
  mend()
  await market.tick(60)
  const again = await execute(agent, attempt)

  expect(lost).toMatchObject({
    status: 503,
    body: {
      message: textWith('was signed and sent'),
      details: { attempt_id: attempt },
      retry_after_seconds: 60,
    },
  })
  expect(again.body).toMatchObject({ status: 'paid_not_delivered', tx_hash: anyText })
  const sent = hostile.received(path).slice(sentBefore)
  const signatures = sent.map(({ headers }) => headers['payment-signature'])
  expect(signatures).toHaveLength(2)
  expect(signatures[1]).toBe(signatures[0])
  expect(await market.usdcOf(agent.address)).toBe(usd - 10_000n)
})

test('what was delivered is kept though its settlement cannot be booked', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const url = `${hostile.url}/settled/ok?unbooked`
  const attempt = attemptOf(await prepare(agent, { resource_url: url }))
  await rename('housekeeping_note', 'housekeeping_note_away')

  const during = await execute(agent, attempt)
  await rename('housekeeping_note_away', 'housekeeping_note')
  const after = await execute(agent, attempt)

  expect(during.body).toMatchObject({ status: 'unknown', response: { status: 200 } })
  expect(after.body).toMatchObject({ status: 'settled', response: { status: 200 } })
})

/** Steps after a signature left, each with the call that then fails like a fault of the database. */
test.each([
  ['its settlement is booked', 'housekeeping_note'],
  ['its outcome is kept', 'housekeeping_finish_attempt'],
])('when the database fails while %s, the answer names the attempt', async (_, call) => {
  const agent = await market.agent('pay', { usdc: 1 })
  const name = call === 'housekeeping_note' ? 'after/status-500' : 'settled/ok'
  const attempt = attemptOf(await prepare(agent, { resource_url: `${hostile.url}/${name}` }))
  await rename(call, `${call}_away`)
  if (call === 'housekeeping_note') {
    // The merchant settles after its answer ends, which the first request may still see.
    await execute(agent, attempt)
    await hostile.idle()
  }

  const lost = await execute(agent, attempt)

  await rename(`${call}_away`, call)
  await market.tick(60)
  const found = await execute(agent, attempt)
  expect(lost).toMatchObject({
    status: 503,
    body: { error: 'unavailable', details: { attempt_id: attempt } },
  })
  expect(found.body).toMatchObject({ status: 'paid_not_delivered', tx_hash: anyText })
})

/** Renames a function. A missing function is not a known outage, so the error is unexpected. */
async function rename(name: string, other: string): Promise<void> {
  await market.db.sql.unsafe(`alter function api.${name} rename to ${other}`)
}
