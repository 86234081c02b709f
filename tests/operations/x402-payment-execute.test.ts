import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import * as z from 'zod'
import {
  attemptOf,
  execute,
  openMarket,
  pay,
  prepare,
  priceAtomic,
  reservedUsd,
} from '../support/market.ts'
import { textWith } from '../support/matching.ts'

const market = await openMarket()
const { merchant, hostile } = market
const usd = 1_000_000n

const echo = z.object({
  method: z.string(),
  query: z.record(z.string(), z.string()),
  content_type: z.string().nullable(),
  body_bytes: z.int(),
  body_sha256: z.string(),
})
const answered = z.object({
  tx_hash: z.string(),
  response: z.object({ status: z.literal(200), body_json: z.unknown() }),
})

function echoed(body: unknown) {
  return echo.parse(answered.parse(body).response.body_json)
}

test.each(['v1', 'v2'])('settles with the official %s merchant to the unit', async (version) => {
  const agent = await market.agent('pay', { usdc: 1 })
  const url = version === 'v1' ? merchant.v1Url : merchant.v2Url
  const before = await market.usdcOf(merchant.payTo)

  const paid = await pay(agent, { resource_url: url })

  expect(paid).toMatchObject({
    status: 200,
    body: {
      status: 'settled',
      requires_user_confirm: false,
      reasons: [],
      network: 'eip155:84532',
      amount: '0.01',
      amount_atomic: '10000',
      finality: 'included',
      consent_level: 'agent_asserted',
      response: { status: 200, truncated: false },
      gap_id: 'GAP_X402_V1',
    },
  })
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
  expect(await market.usdcOf(merchant.payTo)).toBe(before + priceAtomic)
  expect(await reservedUsd(agent)).toBe('0')
})

test('answers a hash that transfer-status proves, and enters the payment in the feed', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(await prepare(agent, { resource_url: merchant.v2Url }))
  const paid = await execute(agent, attempt)

  const { tx_hash } = answered.parse(paid.body)
  const proven = await agent.post('/transfer-status', { tx_hash, chain: 'base-sepolia' })
  const stranger = await market.agent('pay')
  const unseen = await stranger.post('/transfer-status', { tx_hash, chain: 'base-sepolia' })
  const feed = await agent.get('/wallet-activity-list?category=x402')

  expect(proven.body).toMatchObject({
    transfer_id: attempt,
    status: 'settled',
    to: merchant.payTo,
    from: agent.address,
    amount_atomic: '10000',
    proof: { nonce_preimage: textWith(attempt) },
  })
  expect(unseen).toMatchObject({ status: 404, body: { error: 'payment_not_found' } })
  expect(feed.body['items']).toContainEqual(
    expect.objectContaining({
      category: 'x402',
      tx_hash,
      ref: { kind: 'x402', id: attempt },
    }),
  )
})

test('body bytes, content type and query reach the merchant as they were given', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const bytes = Buffer.from([0, 1, 2, 250, 255, 10, 13, 0xed, 0xa0, 0x80])

  const posted = await pay(agent, {
    resource_url: `${merchant.v2Url}?x=a%26b&y=%C3%A9&z=#part`,
    headers: { 'Content-Type': 'application/octet-stream' },
    body_base64: bytes.toString('base64'),
  })

  expect(echoed(posted.body)).toEqual({
    method: 'POST',
    query: { x: 'a&b', y: 'é', z: '' },
    content_type: 'application/octet-stream',
    body_bytes: bytes.length,
    body_sha256: createHash('sha256').update(bytes).digest('hex'),
  })
})

test('text bodies travel as UTF-8, in version 1 too', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const body = '{"prompt":"naïve 🙂\\r\\n"}\r\n'

  const posted = await pay(agent, {
    resource_url: merchant.v1Url,
    headers: { 'content-type': 'application/json' },
    body,
  })

  const { body_sha256, content_type } = echoed(posted.body)
  expect(body_sha256).toBe(createHash('sha256').update(body, 'utf8').digest('hex'))
  expect(content_type).toBe('application/json')
})

test('twenty executions at once debit once, send once and answer the same', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(
    await prepare(agent, { resource_url: `${hostile.url}/settled/ok?crowd` }),
  )
  const before = hostile.received('/settled/ok').length

  const all = await Promise.all(Array.from({ length: 20 }, () => execute(agent, attempt)))

  const [first] = all
  expect(first?.body).toMatchObject({ status: 'settled' })
  expect(all.map(({ status, body }) => ({ status, body }))).toEqual(
    Array(20).fill({ status: 200, body: first?.body }),
  )
  expect(hostile.received('/settled/ok')).toHaveLength(before + 1)
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

test('an execution that another one overtakes answers as that one', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(
    await prepare(agent, { resource_url: `${hostile.url}/settled/ok?slow` }),
  )
  const { world } = market
  const { fetch } = world
  const reading = Promise.withResolvers<void>()
  const overtaken = Promise.withResolvers<void>()
  // The first read of the chain waits until another request has paid.
  world.fetch = async (input, init) => {
    world.fetch = fetch
    reading.resolve()
    await overtaken.promise
    return fetch(input, init)
  }

  await market.tick(31)
  const slow = execute(agent, attempt)
  await reading.promise
  const fast = await execute(agent, attempt)
  overtaken.resolve()

  expect(fast.body).toMatchObject({ status: 'settled' })
  expect((await slow).body).toEqual(fast.body)
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

test('executing again answers what is kept and asks the merchant nothing', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(
    await prepare(agent, { resource_url: `${hostile.url}/settled/ok?again` }),
  )
  const first = await execute(agent, attempt)
  const sent = hostile.requests('/settled/ok').length

  const again = await execute(agent, attempt)
  const unconfirmed = await execute(agent, attempt, false)

  expect(first.body).toMatchObject({ status: 'settled' })
  expect([again.body, unconfirmed.body]).toEqual([first.body, first.body])
  expect(hostile.requests('/settled/ok')).toHaveLength(sent)
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

test('pays nothing without the word of the user, then pays on it', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(
    await prepare(agent, { resource_url: `${hostile.url}/settled/ok?word` }),
  )
  const before = hostile.received('/settled/ok').length

  const refused = [
    await execute(agent, attempt, false),
    await agent.post('/x402-payment-execute', { attempt_id: attempt }),
  ]
  const held = await market.usdcOf(agent.address)
  const sent = hostile.received('/settled/ok').length
  const paid = await execute(agent, attempt)

  for (const { status, body } of refused) {
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'awaiting_confirmation',
      requires_user_confirm: true,
      confirmation: { level: 'agent_asserted', status: 'pending' },
      reasons: [{ code: 'new_recipient' }, { code: 'new_device' }],
      finality: null,
      consent_level: null,
    })
  }
  expect([held, sent]).toEqual([usd, before])
  expect(paid.body).toMatchObject({ status: 'settled', consent_level: 'agent_asserted' })
})

test('a known merchant on a known device is paid without a word', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  await market.acquaint(agent, merchant.payTo)

  const prepared = await prepare(agent, { resource_url: merchant.v1Url })
  const paid = await execute(agent, attemptOf(prepared), false)

  expect(prepared.body).toMatchObject({ requires_user_confirm: false, reasons: [] })
  expect(paid.body).toMatchObject({ status: 'settled', consent_level: 'none' })
})

test('a new device needs a word for a merchant that is known', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  await market.acquaint(agent, merchant.payTo)
  const attempt = attemptOf(await prepare(agent, { resource_url: merchant.v2Url }))

  const body = { attempt_id: attempt, user_confirmed: false }
  const moved = await agent.post('/x402-payment-execute', body, { 'x-device-id': 'another' })

  expect(moved.body).toMatchObject({
    status: 'awaiting_confirmation',
    reasons: [{ code: 'new_device' }],
  })
})

test('an attempt that ran out pays nothing, whatever the user says', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const path = '/settled/ok'
  const attempt = attemptOf(await prepare(agent, { resource_url: `${hostile.url}${path}?late` }))
  const before = hostile.requests(path).length
  await market.tick(86_401)

  const late = [await execute(agent, attempt), await execute(agent, attempt, false)]

  for (const answer of late) {
    expect(answer).toMatchObject({ status: 409, body: { error: 'payment_closed' } })
  }
  expect(hostile.requests(path)).toHaveLength(before)
  expect(await reservedUsd(agent)).toBe('0')
})

test("a stranger's attempt answers as one that is missing, paid or not", async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const stranger = await market.agent('full', { usdc: 1 })
  const attempt = attemptOf(await prepare(agent, { resource_url: merchant.v2Url }))
  const missing = await execute(stranger, '00000000-0000-4000-8000-000000000000')

  const prepared = await execute(stranger, attempt)
  const paid = await execute(agent, attempt)
  const settled = await execute(stranger, attempt)

  expect(paid.body).toMatchObject({ status: 'settled' })
  expect(missing).toMatchObject({ status: 404, body: { error: 'payment_not_found' } })
  for (const foreign of [prepared, settled]) {
    const { request_id } = foreign.body
    expect(foreign.status).toBe(404)
    expect(foreign.body).toEqual({ ...missing.body, request_id })
  }
})

test('attempts that together exceed the wallet do not all get a signature', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const urls = Array.from({ length: 4 }, (_, at) => `${hostile.url}/paid/ok?${at}`)
  const offer = { scheme: 'exact', network: 'eip155:84532', asset: market.chain.usdc }
  const accepts = [{ ...offer, amount: '400000', payTo: hostile.payTo, maxTimeoutSeconds: 60 }]
  const prepared = await Promise.all(
    urls.map((url) => prepare(agent, { resource_url: url, x402Version: 2, accepts })),
  )
  const before = hostile.received('/paid/ok').length

  const all = await Promise.all(prepared.map((one) => execute(agent, attemptOf(one))))

  const refused = all.filter(({ body }) => body['error'] === 'insufficient_funds')
  expect(refused).toHaveLength(2)
  expect(hostile.received('/paid/ok')).toHaveLength(before + 2)
  expect(await reservedUsd(agent)).toBe('0.8')
})
