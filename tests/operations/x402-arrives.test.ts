/** Purchases arrive once paid, from merchants of the official packages, however slow, odd or unlucky. */
import { expect, test, vi } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { answering, expiring, serverThat } from '../support/http.ts'
import { attemptOf, execute, openMarket, pay, prepare, reservedUsd } from '../support/market.ts'
import { anyText, textWith } from '../support/matching.ts'
import { openKeepingFront, openOfficialShop } from '../support/official-shop.ts'
import { startPermit2Merchant } from '../support/permit2-merchant.ts'
import { placeContracts } from '../support/play/contracts.ts'
import { challengeV2, headerOf, requirementV2 } from '../support/x402.ts'

const market = await openMarket()
const [held, left] = [1_000_000n, 990_000n]
const bought = { paid: 'report' }

/** Response of the platform, in place of the one that the server of the tests puts there. */
const PlatformResponse: unknown = Object.getPrototypeOf(Response)

async function endSignatures(): Promise<void> {
  await market.tick(1_300)
  await market.passOnChain(1_300)
  await runHousekeeping(market.world)
}

test.each([
  ['https://files.example/report.pdf?signature=abc', 302],
  ['/files/report.pdf?signature=abc', 303],
])(
  'a redirect to %s that was paid for is handed over and not followed',
  async (location, status) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const shop = await openOfficialShop(
      market,
      () => new Response('see there', { status, headers: { location } }),
    )

    const paid = await pay(agent, { resource_url: `${shop.url}/report` })

    expect(paid.body).toMatchObject({
      status: 'settled',
      reasons: [{ code: 'redirected' }],
      response: {
        status,
        headers: { location: new URL(location, shop.url).href },
        body: 'see there',
      },
    })
    expect(shop.paid).toHaveLength(1)
    expect(await market.usdcOf(agent.address)).toBe(left)
  },
)

test('a settlement whose answer was lost is unknown until the chain has passed its end', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const shop = await openOfficialShop(market, (context) => context.json(bought))
  shop.settling.loses = 504
  const attempt = attemptOf(await prepare(agent, { resource_url: shop.url }))

  const lost = await execute(agent, attempt)
  await shop.settling.late()
  const found = await execute(agent, attempt)

  expect(lost.body).toMatchObject({
    status: 'unknown',
    reserved_until: anyText,
    reasons: [
      { code: 'settlement_failed', untrusted: { text: textWith('504') } },
      { code: 'not_settled_yet' },
    ],
  })
  expect(found.body).toMatchObject({ status: 'paid_not_delivered', tx_hash: anyText })
  expect(await market.usdcOf(agent.address)).toBe(left)
})

test('a settlement that was lost and never made ends as unpaid', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const shop = await openOfficialShop(market, (context) => context.json(bought))
  shop.settling.loses = 200
  const attempt = attemptOf(await prepare(agent, { resource_url: shop.url }))

  const lost = await execute(agent, attempt)
  await endSignatures()
  const ended = await execute(agent, attempt)

  expect(lost.body).toMatchObject({ status: 'unknown', response: { status: 502 } })
  expect(ended.body).toMatchObject({ status: 'rejected_unpaid' })
  expect([await reservedUsd(agent), await market.usdcOf(agent.address)]).toEqual(['0', held])
})

test.each([204, 304])('a bare 402 after a paid %i is never told as unpaid', async (status) => {
  const agent = await market.agent('pay', { usdc: 1 })
  vi.stubGlobal('Response', PlatformResponse)
  const shop = await openOfficialShop(market, () => new Response(null, { status }))
  const before = await prepare(agent, { resource_url: shop.url })
  vi.stubGlobal('Response', PlatformResponse)

  const paid = await execute(agent, attemptOf(before)).finally(() => vi.unstubAllGlobals())

  expect(paid.body).toMatchObject({ status: 'paid_not_delivered', response: { status: 402 } })
  expect(await market.usdcOf(agent.address)).toBe(left)
})

test('a bare 402 without a settlement is unknown, and the challenge in a body of version 1 too', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const asking = { 'payment-required': headerOf(challengeV2([requirementV2()])) }
  const shops = await Promise.all(
    ['{}', JSON.stringify(challengeV2([requirementV2()]))].map((body) =>
      serverThat((response, { headers }) => {
        const isPaid = headers['payment-signature'] !== undefined
        response.writeHead(402, isPaid ? {} : asking).end(isPaid ? body : '{}')
      }),
    ),
  )

  const answers = await Promise.all(shops.map(({ url }) => pay(agent, { resource_url: url })))

  expect(answers.map(({ body }) => body)).toMatchObject([
    { status: 'unknown', reasons: [{ code: 'not_delivered' }, { code: 'not_settled_yet' }] },
    { status: 'unknown', reasons: [{ code: 'payment_refused' }, { code: 'not_settled_yet' }] },
  ])
})

test('an answer that came too late is had from the same signature, after settlement too', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const shop = await openOfficialShop(market, (context) => context.json(bought))
  const front = await openKeepingFront(shop, expiring(market))
  const attempt = attemptOf(await prepare(agent, { resource_url: front.url }))

  const late = await execute(agent, attempt)
  await market.tick(400)
  const had = await execute(agent, attempt)
  const again = await execute(agent, attempt)

  expect(late.body).toMatchObject({
    status: 'paid_not_delivered',
    reasons: [{ code: 'merchant_timeout' }],
  })
  expect(had.body).toMatchObject({ status: 'settled', response: { body: JSON.stringify(bought) } })
  expect(again.body).toEqual(had.body)
  expect(shop.paid).toHaveLength(1)
  expect(await market.usdcOf(agent.address)).toBe(left)
})

test('while a merchant works for longer than a lease, nobody else asks it', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const [slow, asked, done] = [
    new AbortController(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ]
  const shop = await openOfficialShop(market, async (context) => {
    asked.resolve()
    await done.promise
    return context.json(bought)
  })
  const worker = market.worker({
    deadline: (milliseconds) =>
      milliseconds === 30_000 ? slow.signal : new AbortController().signal,
  })
  const attempt = attemptOf(await prepare(agent, { resource_url: shop.url }))
  const body = { attempt_id: attempt, user_confirmed: true }
  const key = { 'idempotency-key': 'slow' }

  const first = worker.post(agent, '/x402-payment-execute', body, key)
  await asked.promise
  await market.tick(30)
  slow.abort()
  await expect.poll(leaseSeconds).toBe(120)
  await market.tick(90)
  const hasty = market.worker({ pause: () => new Promise((resolve) => setImmediate(resolve)) })
  const second = await hasty.post(agent, '/x402-payment-execute', body)
  const repeat = await hasty.post(agent, '/x402-payment-execute', body, key)
  done.resolve()

  expect(second.body).toMatchObject({ status: 'unknown' })
  expect(repeat).toMatchObject({ status: 409, body: { message: textWith('still running') } })
  expect((await first).body).toMatchObject({ status: 'settled', response: { status: 200 } })
  expect(shop.paid).toHaveLength(1)

  async function leaseSeconds() {
    const [row] = await market.db.sql<{ seconds: number }[]>`
      select extract(epoch from leased_until - private.clock())::integer as seconds
      from private.payments where id = ${attempt}`
    return row?.seconds
  }
})

test('the reason that a merchant gives is heard at every status', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const upto = { error: 'permit2_allowance_required' }
  const given: [number, Record<string, string>, string][] = [
    [412, { 'payment-required': headerOf(challengeV2([requirementV2()], upto)) }, '{}'],
    [400, {}, '{"title":"Bad","detail":"The field q is missing."}'],
    [
      503,
      { 'payment-response': headerOf({ success: false, errorReason: 'insufficient_funds' }) },
      '',
    ],
    [402, { 'payment-required': headerOf({ x402Version: 2, accepts: [{ scheme: 'exact' }] }) }, ''],
  ]
  const asking = { 'payment-required': headerOf(challengeV2([requirementV2()])) }
  const answers = []
  for (const [status, headers, body] of given) {
    const shop = await serverThat((response, received) => {
      if (received.headers['payment-signature'] === undefined)
        return answering(402, asking)(response, received)
      answering(status, headers, body)(response, received)
    })
    answers.push((await pay(agent, { resource_url: shop.url })).body)
  }

  const open = { code: 'not_settled_yet' }
  const heard = (code: string, text: string) => ({ code, untrusted: { text } })
  expect(answers).toMatchObject([
    {
      status: 'rejected_unpaid',
      reasons: [heard('payment_refused', 'permit2_allowance_required'), open],
    },
    {
      status: 'rejected_unpaid',
      reasons: [heard('not_delivered', 'The field q is missing.'), open],
    },
    { status: 'unknown', reasons: [heard('settlement_failed', 'insufficient_funds'), open] },
    {
      status: 'rejected_unpaid',
      reasons: [{ code: 'payment_refused' }, { message: textWith('no valid network') }, open],
    },
  ])
})

test('a 400 after settlement is not told as a refusal of the payment', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const flow = { paymentFlow: 'upfront' }
  const shop = await openOfficialShop(
    market,
    (context) => context.json({ detail: 'no q' }, 400),
    flow,
  )

  const paid = await pay(agent, { resource_url: shop.url })

  expect(paid.body).toMatchObject({
    status: 'paid_not_delivered',
    reasons: [{ code: 'not_delivered', untrusted: { text: 'no q' } }],
    response: { status: 400 },
  })
  expect(JSON.stringify(paid.body)).not.toContain('refused')
})

test('upto that took nothing and delivered is settled with nothing taken once its permit ended', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  await placeContracts(market.chain)
  const merchant = await startPermit2Merchant(market.chain)
  merchant.takes.amount = 0n
  const attempt = attemptOf(await prepare(agent, { resource_url: `${merchant.url}/upto` }))

  const open = await execute(agent, attempt)
  await endSignatures()
  const ended = await execute(agent, attempt)

  expect(open.body).toMatchObject({ status: 'unknown', response: { status: 200 } })
  expect(ended.body).toMatchObject({
    status: 'settled',
    reasons: [{ code: 'nothing_taken' }],
    settled_amount: '0',
    settled_amount_atomic: '0',
    response: { status: 200 },
  })
  expect([await reservedUsd(agent), await market.usdcOf(agent.address)]).toEqual(['0', held])
})
