/**
 * x402 by Permit2 works for exact and upto with a merchant of the official packages. A payment that does
 * not settle ends all the same.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import {
  attemptOf,
  execute,
  type Market,
  openMarket,
  pay,
  prepare,
  reservedUsd,
} from '../support/market.ts'
import { anyText, textWith } from '../support/matching.ts'
import { allow, installTimeoutMilliseconds, placePermit2 } from '../support/permit2.ts'
import { type Permit2Merchant, startPermit2Merchant } from '../support/permit2-merchant.ts'
import type { Agent } from '../support/world.ts'

const held = 1_000_000n
let market: Market
let merchant: Permit2Merchant
beforeAll(async () => {
  market = await openMarket()
  await placePermit2(market.chain)
  merchant = await startPermit2Merchant(market.chain)
}, installTimeoutMilliseconds)
beforeEach(() => {
  Object.assign(merchant.takes, { amount: 40n, answersAreLost: false, claims: undefined })
})

function paymentsOf({ address }: Agent) {
  return merchant.paid.filter(({ payload }) => payload.permit2Authorization.from === address)
}

/** Passes the end of every permit, and the 15 minutes in which one endpoint alone is not believed. */
async function settleLate(): Promise<void> {
  await market.tick(1_300)
  await market.passOnChain(1_300)
  await runHousekeeping(market.world)
}

async function countedOf({ id }: Agent): Promise<string | undefined> {
  const [row] = await market.db.sql<{ counted: string }[]>`
    select amount_usd_micros::text as counted from private.payments where account = ${id}`
  return row?.counted
}

test.each([
  ['exact', 40n],
  ['upto', 40n],
  ['upto', 7n],
] as const)(
  '%s is paid with a sponsored allowance, and %s is what it costs',
  async (scheme, taken) => {
    const agent = await market.agent('pay', { usdc: 1 })
    merchant.takes.amount = taken
    const before = await market.usdcOf(merchant.payTo)

    const prepared = await prepare(agent, { resource_url: `${merchant.url}/${scheme}` })
    const paid = await execute(agent, attemptOf(prepared))
    const again = await execute(agent, attemptOf(prepared))
    const hash = String(paid.body['tx_hash'])
    const status = await agent.post('/transfer-status', { tx_hash: hash })

    expect(prepared.body).toMatchObject({
      terms: { scheme, transfer_method: 'permit2', amount_atomic: '40' },
      summary: textWith(scheme === 'upto' ? 'Pay up to 0.00004 USDC' : 'Pay 0.00004 USDC'),
    })
    expect(paid.body).toMatchObject({
      status: 'settled',
      amount_atomic: '40',
      settled_amount_atomic: `${taken}`,
      response: { status: 200 },
    })
    expect(again.body).toEqual(paid.body)
    expect(status.body).toMatchObject({ status: 'settled', amount_atomic: `${taken}` })
    expect(paymentsOf(agent)).toHaveLength(1)
    expect(await market.usdcOf(agent.address)).toBe(held - taken)
    expect((await market.usdcOf(merchant.payTo)) - before).toBe(taken)
    expect(await reservedUsd(agent)).toBe('0')
    // The signed amount counts, whatever was taken of it.
    await market.passOnChain(60)
    await runHousekeeping(market.world)
    expect(await countedOf(agent)).toBe('40')
  },
)

test('upto that takes nothing stays reserved until the permit ends, then it is free', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  merchant.takes.amount = 0n
  const attempt = attemptOf(await prepare(agent, { resource_url: `${merchant.url}/upto` }))

  const open = await execute(agent, attempt)
  const reserved = await reservedUsd(agent)
  await settleLate()
  const ended = await execute(agent, attempt)

  expect(open.body).toMatchObject({ status: 'unknown', reasons: [{ code: 'not_settled_yet' }] })
  expect(reserved).toBe('0.00004')
  expect(ended.body).toMatchObject({
    status: 'settled',
    settled_amount: '0',
    reasons: [{ code: 'nothing_taken' }],
  })
  expect(ended.body).not.toHaveProperty('tx_hash')
  expect(await reservedUsd(agent)).toBe('0')
  expect(await market.usdcOf(agent.address)).toBe(held)
})

test('what Permit2 may not take is not signed, and with the word of the wallet it is', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const order = { resource_url: `${merchant.url}/bare/exact` }

  const refused = await prepare(agent, order)
  await allow(market.chain, agent.address, 40n)
  const paid = await pay(agent, order)
  const usedUp = await prepare(agent, order)

  const offers = [{ reason: textWith('Permit2 may not take this much') }]
  const refusal = { status: 422, body: { error: 'unsupported_scheme', details: { offers } } }
  expect(refused).toMatchObject(refusal)
  expect(paid.body).toMatchObject({ status: 'settled', settled_amount_atomic: '40' })
  expect(merchant.paid.at(-1)?.extensions).toBeUndefined()
  expect(usedUp).toMatchObject(refusal)
})

test('an allowance that is gone when the payment is executed stops it before a signature', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  await allow(market.chain, agent.address, 40n)
  const attempt = attemptOf(await prepare(agent, { resource_url: `${merchant.url}/bare/upto` }))
  await allow(market.chain, agent.address, 39n)

  const answer = await execute(agent, attempt)

  expect(answer).toMatchObject({ status: 409, body: { error: 'terms_changed' } })
  expect(await reservedUsd(agent)).toBe('0')
})

test.each([
  ['exact', 40n],
  ['upto', 7n],
] as const)(
  '%s whose answer is lost is found once it is final, and paid once',
  async (scheme, taken) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const attempt = attemptOf(await prepare(agent, { resource_url: `${merchant.url}/${scheme}` }))
    Object.assign(merchant.takes, { amount: taken, answersAreLost: true })

    const open = await execute(agent, attempt)
    await settleLate()
    const paid = await execute(agent, attempt)
    const again = await Promise.all([execute(agent, attempt), execute(agent, attempt)])

    expect(open.body).toMatchObject({ status: 'unknown' })
    expect(paid.body).toMatchObject({
      status: 'paid_not_delivered',
      tx_hash: anyText,
      settled_amount_atomic: `${taken}`,
    })
    // The merchant is asked again and may use other words: `reasons` and `response` quote them.
    const { reasons: _, response: _response, ...facts } = paid.body
    for (const { body } of again) expect(body).toMatchObject(facts)
    const signatures = paymentsOf(agent).map(({ payload }) => payload.signature)
    expect(new Set(signatures).size).toBe(1)
    expect(await market.usdcOf(agent.address)).toBe(held - taken)
  },
)

test('a claim of a transaction that paid something else settles nothing', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const order = { resource_url: `${merchant.url}/exact` }
  const first = await pay(agent, order)
  const transaction = String(first.body['tx_hash'])
  merchant.takes.claims = transaction

  const second = await pay(agent, order)

  expect(second.body).toMatchObject({ status: 'unknown', response: { status: 200 } })
  expect(second.body).not.toHaveProperty('tx_hash')
  expect(await market.usdcOf(agent.address)).toBe(held - 40n)
  expect(await reservedUsd(agent)).toBe('0.00004')
})

test('a freeze names a permit that its merchant has, and the permit still ends by itself', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const attempt = attemptOf(await prepare(agent, { resource_url: `${merchant.url}/exact` }))
  merchant.takes.amount = undefined
  await execute(agent, attempt)

  const frozen = await agent.post('/account-freeze', {})
  await settleLate()

  expect(frozen.body).toMatchObject({
    stopped: [],
    may_settle: [{ payment_id: attempt, why: 'handed_over', message: textWith('merchant') }],
  })
  const [row] = await market.db.sql`
    select state, failure from private.payments where id = ${attempt}`
  expect(row).toEqual({ state: 'released', failure: 'the signature ended unused' })
})
