/** After a refusal the next attempt takes another offer; after "later" it does not. */

import { HTTPFacilitatorClient } from '@x402/core/server'
import type { PaymentPayload } from '@x402/core/types'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { newKey } from '../support/chain-world.ts'
import { serverThat } from '../support/http.ts'
import {
  attemptOf,
  execute,
  openMarket,
  pay,
  prepare,
  priceAtomic,
  reservedUsd,
} from '../support/market.ts'
import type { Agent } from '../support/world.ts'
import { challengeV2, headerOf, requirementV2 } from '../support/x402.ts'

const market = await openMarket()
const { hostile } = market
const usd = 1_000_000n
const payload = z.custom<PaymentPayload>()

const cheap = requirementV2()
const upfront = requirementV2({ amount: '20000', extra: { paymentFlow: 'upfront' } })
/** Starts a merchant with these offers that answers a payment with this status and these headers. */
async function merchantThat(
  accepts: unknown[],
  status: () => number,
  headers: Record<string, string> = {},
) {
  const asking = { 'payment-required': headerOf(challengeV2(accepts)) }
  return serverThat((response, { headers: { 'payment-signature': payment } }) => {
    const code = payment === undefined ? 402 : status()
    response.writeHead(code, code === 402 ? asking : headers).end('{}')
  })
}

test.each([
  [408, '7', 7],
  [425, 'Tue, 01 Sep 2099 12:00:00 GMT', 86_400],
  [425, 'Sun, 01 Sep 2019 12:00:00 GMT', 0],
  [429, undefined, undefined],
  [429, 'soon', undefined],
])(
  'a merchant that answers %i with Retry-After %s says later, and is sent the same signature again',
  async (status, asked, seconds) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const retry = asked === undefined ? {} : { 'retry-after': asked }
    const shop = await merchantThat([cheap], () => status, retry)
    const attempt = attemptOf(await prepare(agent, { resource_url: shop.url }))

    const first = await execute(agent, attempt)
    const second = await execute(agent, attempt)

    const sent = shop.received.flatMap(({ headers }) => headers['payment-signature'] ?? [])
    expect(first.body).toMatchObject({
      status: 'unknown',
      reasons: [{ code: 'later' }, { code: 'not_settled_yet' }],
      response: { status },
    })
    expect(first.body['retry_after_seconds']).toBe(seconds)
    expect(second.body).toEqual(first.body)
    expect([sent.length, new Set(sent).size]).toEqual([2, 1])
    expect(await reservedUsd(agent)).toBe('0.01')
  },
)

test('an attempt that was answered later and then settles is delivered and paid once', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  let isBusy = true
  const shop = await serverThat((response, { url, headers }) => {
    const payment = headers['payment-signature']
    if (payment !== undefined && isBusy) return void response.writeHead(429).end()
    const given = payment === undefined ? {} : { 'payment-signature': String(payment) }
    void fetch(`${hostile.url}/settled${url}`, { headers: given }).then(async (answer) => {
      const asking = answer.headers.get('payment-required')
      response.writeHead(answer.status, asking === null ? {} : { 'payment-required': asking })
      response.end(await answer.text())
    })
  })
  const attempt = attemptOf(await prepare(agent, { resource_url: `${shop.url}ok` }))

  const busy = await execute(agent, attempt)
  isBusy = false
  const settled = await execute(agent, attempt)

  expect(busy.body).toMatchObject({ status: 'unknown' })
  expect(settled.body).toMatchObject({ status: 'settled', response: { status: 200 } })
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

test('a merchant that settled and says later is sent the same signature until it delivers', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const facilitator = new HTTPFacilitatorClient({ url: market.facilitator.url })
  const offer = requirementV2({ extra: { name: 'USDC', version: '2', paymentFlow: 'upfront' } })
  const settled = new Map<string, number>()
  const asking = { 'payment-required': headerOf(challengeV2([offer])) }
  const shop = await serverThat((response, { headers: { 'payment-signature': signed } }) => {
    if (signed === undefined) return void response.writeHead(402, asking).end('{}')
    const times = (settled.get(String(signed)) ?? 0) + 1
    settled.set(String(signed), times)
    if (times > 2) return void response.writeHead(200).end('{"goods":true}')
    const sent = payload.parse(JSON.parse(Buffer.from(String(signed), 'base64').toString()))
    const settling = times === 1 ? facilitator.settle(sent, sent.accepted) : Promise.resolve()
    void settling.then(() => response.writeHead(429, { 'retry-after': '3' }).end())
  })
  const attempt = attemptOf(await prepare(agent, { resource_url: shop.url }))

  const answers = []
  for (let time = 0; time < 4; time += 1) answers.push((await execute(agent, attempt)).body)

  const busy = { status: 'paid_not_delivered', retry_after_seconds: 3, response: { status: 429 } }
  const delivered = { status: 'settled', response: { status: 200 } }
  expect(answers).toMatchObject([busy, busy, delivered, delivered])
  expect([...settled.values()]).toEqual([3])
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

/** Pays once more and returns the amount of the chosen offer. */
async function amountPaid(agent: Agent, url: string): Promise<unknown> {
  const { body } = await pay(agent, { resource_url: url })
  return body['amount_atomic']
}

test.each([402, 412])(
  'after a refusal with %i the next attempt takes another offer, and the best when all were refused',
  async (status) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const shop = await merchantThat([upfront, cheap], () => status)

    const first = await amountPaid(agent, `${shop.url}a?one`)
    const second = await amountPaid(agent, `${shop.url}a?two`)
    const third = await amountPaid(agent, `${shop.url}a`)

    expect([first, second, third]).toEqual(['10000', '20000', '10000'])
  },
)

test('a refusal is one also where each challenge names a payee of its own', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const shop = await serverThat((response) => {
    const accepts = [upfront, cheap].map((offer) => ({ ...offer, payTo: newKey().at }))
    response.writeHead(402, { 'payment-required': headerOf(challengeV2(accepts)) }).end('{}')
  })

  const first = await pay(agent, { resource_url: shop.url })
  const second = await pay(agent, { resource_url: shop.url })

  expect(first.body).toMatchObject({
    status: 'rejected_unpaid',
    reasons: [{ code: 'payment_refused' }, { code: 'terms_changed' }, { code: 'not_settled_yet' }],
  })
  expect([first, second].map(({ body }) => body['amount_atomic'])).toEqual(['10000', '20000'])
})

test('a refusal counts for its resource and its account, and for a quarter of an hour', async () => {
  const [agent, other] = [
    await market.agent('pay', { usdc: 1 }),
    await market.agent('pay', { usdc: 1 }),
  ]
  const shop = await merchantThat([upfront, cheap], () => 402)
  await amountPaid(agent, `${shop.url}a`)

  const elsewhere = await amountPaid(agent, `${shop.url}b`)
  const another = await amountPaid(other, `${shop.url}a`)
  await market.tick(901)
  const later = await amountPaid(agent, `${shop.url}a`)
  await market.tick(-901)

  expect([elsewhere, another, later]).toEqual(['10000', '10000', '10000'])
})

test.each([429, 500])('an answer of %i is no refusal of the offer', async (status) => {
  const agent = await market.agent('pay', { usdc: 1 })
  const shop = await merchantThat([upfront, cheap], () => status)

  const amounts = [await amountPaid(agent, `${shop.url}a`), await amountPaid(agent, `${shop.url}a`)]

  expect(amounts).toEqual(['10000', '10000'])
})

test('a refusal that settled after all does not speak against the offer', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const resource_url = `${hostile.url}/settled/challenge-again`
  const accepts = [upfront, cheap].map((offer) => ({ ...offer, payTo: hostile.payTo }))
  const payment_required = headerOf(challengeV2(accepts))

  const paid = await pay(agent, { resource_url, payment_required })
  const next = await prepare(agent, { resource_url, payment_required })

  expect(paid.body).toMatchObject({
    status: 'paid_not_delivered',
    reasons: [{ code: 'payment_refused' }],
  })
  expect(next.body).toMatchObject({ terms: { amount_atomic: '10000' } })
})
