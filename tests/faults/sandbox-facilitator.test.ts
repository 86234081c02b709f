/** The sandbox serves nothing without a settlement, whether its facilitator is away, silent or false. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { attemptOf, execute, openMarket, prepare, priceAtomic } from '../support/market.ts'
import { textWith } from '../support/matching.ts'
import {
  type Facilitating,
  headersFor,
  openBuyer,
  openFakeFacilitator,
  openSandbox,
  signTestPayment,
} from '../support/sandbox.ts'

const market = await openMarket()
const usd = 1_000_000n

/** Sends a payment to a sandbox with this facilitator. */
async function buyWith(answer: Facilitating, changed = {}) {
  const facilitator = await openFakeFacilitator(market, answer)
  const { url, payTo } = await openSandbox(market, facilitator.url)
  const buyer = await openBuyer(market)
  const payload = await signTestPayment(market, buyer, payTo, changed)
  const headers = headersFor(payTo, payload)['/sandbox/v2/report']
  const send = async () => {
    const response = await fetch(`${url}/sandbox/v2/report`, { headers })
    const { status } = response
    const body = z.looseObject({}).parse(await response.json())
    return { status, headers: response.headers, body }
  }
  return { ...(await send()), send, asked: facilitator.asked, buyer }
}

test('without a facilitator there are no terms, so nobody signs for nothing', async () => {
  const sandbox = await openSandbox(market, 'http://127.0.0.1:9')
  const agent = await market.agent('pay', { usdc: 1 })

  const answer = await fetch(`${sandbox.url}/sandbox/v2/report`)
  const prepared = await prepare(agent, { resource_url: `${sandbox.url}/sandbox/v2/report` })

  expect([answer.status, await answer.json()]).toMatchObject([
    503,
    { message: textWith('facilitator of the sandbox does not answer') },
  ])
  expect(prepared.body).toMatchObject({ error: 'no_payment_required' })
})

test('a facilitator that settles on none of the networks sells nothing', async () => {
  const kinds = [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }]

  const { status, body, asked } = await buyWith(() => ({ kinds }))

  expect([status, body, asked]).toMatchObject([
    503,
    { message: textWith('settles on none') },
    ['/supported'],
  ])
})

test.each(['/verify', '/settle'])('a facilitator that loses %s serves nothing', async (lost) => {
  const bought = await buyWith((path, honest) =>
    path === lost ? new Response('Gateway Timeout', { status: 504 }) : honest(),
  )

  expect(bought.status).toBe(503)
  expect(bought.body).not.toHaveProperty('report')
  expect(await market.usdcOf(bought.buyer.address)).toBe(usd)
})

test('a facilitator that never answers a settlement is not waited for beyond its time', async () => {
  const bought = await buyWith((path, honest, received) => {
    if (path !== '/settle') return honest()
    market.expire(received)
    return new Promise<never>(() => {})
  })

  expect(bought.status).toBe(503)
  expect(await market.usdcOf(bought.buyer.address)).toBe(usd)
})

/** Settles, and loses the first answer. */
function losingOnce(): Facilitating {
  let isLost = false
  return async (path, honest) => {
    const answer = await honest()
    if (path !== '/settle' || isLost) return answer
    isLost = true
    return new Response('', { status: 502 })
  }
}

test('a settlement whose answer is lost gives nothing away, and the signature pays once', async () => {
  const bought = await buyWith(losingOnce())

  const again = await bought.send()

  expect([bought.status, again.status]).toEqual([503, 402])
  expect(bought.body).toMatchObject({ message: textWith('look at the chain') })
  expect(await market.usdcOf(bought.buyer.address)).toBe(usd - priceAtomic)
})

test('the account knows by the chain that it paid when the answer was lost, and does not pay again', async () => {
  const facilitator = await openFakeFacilitator(market, losingOnce())
  const sandbox = await openSandbox(market, facilitator.url)
  const agent = await market.agent('pay', { usdc: 1 })
  const order = { resource_url: `${sandbox.url}/sandbox/v2/report` }
  const attempt = attemptOf(await prepare(agent, order))

  const first = await execute(agent, attempt)
  const again = await execute(agent, attempt)

  expect([first.body['status'], again.body['status']]).toEqual([
    'paid_not_delivered',
    'paid_not_delivered',
  ])
  expect(await market.usdcOf(sandbox.payTo)).toBe(priceAtomic)
})

const hash = `0x${'a'.repeat(64)}`
const network = 'eip155:84532'
test.each([
  ['without a transaction', { success: true, transaction: '', network }],
  ['with another transaction than a hash', { success: true, transaction: 'done', network }],
  ['for another amount', { success: true, transaction: hash, network, amount: '1' }],
  ['of another payer', { success: true, transaction: hash, network, payer: `0x${'1'.repeat(40)}` }],
  ['on another network', { success: true, transaction: hash, network: 'eip155:8453' }],
  ['in a word', { success: 'yes', transaction: hash, network }],
])('a success %s serves nothing', async (_, said) => {
  const bought = await buyWith((path, honest) => (path === '/settle' ? said : honest()))

  expect(bought.status).toBe(503)
  expect(bought.body).not.toHaveProperty('report')
})

test('a facilitator that refuses is told with its reason, as a settlement that failed', async () => {
  const said = { success: false, errorReason: 'insufficient_funds', transaction: '', network }

  const bought = await buyWith((path, honest) => (path === '/settle' ? said : honest()))

  expect(bought).toMatchObject({ status: 402, body: { error: textWith('insufficient_funds') } })
  expect(bought.headers.get('payment-required')).toBeNull()
  const header = bought.headers.get('payment-response') ?? ''
  expect(JSON.parse(Buffer.from(header, 'base64').toString())).toMatchObject({ success: false })
})

test('a facilitator that calls an underpaid payment valid is not even asked', async () => {
  const lie = { success: true, transaction: hash, network }
  const bought = await buyWith(
    (path, honest) =>
      path === '/supported' ? honest() : path === '/verify' ? { isValid: true } : lie,
    { value: '1' },
  )

  expect([bought.status, bought.asked]).toEqual([402, ['/supported']])
})
