/** The statement of a mandate lists each payment under it as the chain shows it, and nothing else. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { askMandate, giveMandate } from '../support/mandates.ts'
import { attemptOf, execute, type Market, openMarket, pay, prepare } from '../support/market.ts'
import { anyText } from '../support/matching.ts'
import { type Agent, pepper } from '../support/world.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})

const line = z.looseObject({ payment_id: z.string(), counted_usd: z.string() })
const statement = z.looseObject({ payments: z.array(line), next_cursor: z.string().nullable() })

async function statementOf(agent: Agent, mandate_id: string, query: Record<string, string> = {}) {
  const search = new URLSearchParams({ mandate_id, ...query }).toString()
  return statement.parse((await agent.get(`/payment-mandate-statement?${search}`)).body)
}

async function buy(agent: Agent, resource_url = market.merchant.v2Url) {
  const attempt = attemptOf(await prepare(agent, { resource_url }))
  await execute(agent, attempt, false)
  return attempt
}

test('a payment stands in it with what it counts, what the chain shows and who paid', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { id, digest } = await giveMandate(market, agent, { max_total_usd_micros: '50000000' })
  const payment_id = await buy(agent)
  const { body: seen } = await agent.post('/transfer-status', { transfer_id: payment_id })

  const { mandate, consent, payments } = await statementOf(agent, id)

  expect(consent).toEqual({ level: 'user_session', digest, decided_at: anyText })
  expect(mandate).toMatchObject({
    mandate_id: id,
    status: 'active',
    spent: { total_usd: '0.01', payments: 1 },
    left: { total_usd: '49.99' },
  })
  expect(payments).toEqual([
    {
      payment_id,
      kind: 'x402',
      status: 'settled',
      finality: seen['finality'],
      amount: '0.01',
      amount_atomic: '10000',
      counted_usd: '0.01',
      chain: 'eip155:84532',
      token: 'USDC',
      pay_to: market.merchant.payTo,
      origin: market.merchant.url,
      paid_by: 'pay',
      authorized_at: anyText,
      settled_at: anyText,
      tx_hash: seen['tx_hash'],
      block_number: seen['block_number'],
      explorer_url: seen['explorer_url'],
      delivery: { kind: 'answered', http_status: 200 },
    },
  ])
})

test('what was not paid under it is not in it', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const before = await pay(agent, { resource_url: market.merchant.v2Url })
  const { id } = await giveMandate(market, agent)
  const other = await giveMandate(market, agent, { merchant_domain: 'localhost' })
  const inside = await buy(agent)

  const lines = (await statementOf(agent, id)).payments

  expect(before.body['status']).toBe('settled')
  expect(lines.map(({ payment_id }) => payment_id)).toEqual([inside])
  expect((await statementOf(agent, other.id)).payments).toEqual([])
})

test('a payment that is open counts in full, and one that came to nothing counts nothing', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { id } = await giveMandate(market, agent)
  const attempt = await buy(agent, `${market.hostile.url}/paid/challenge-again`)

  const open = await statementOf(agent, id)
  await market.tick(1_300)
  await market.passOnChain(1_300)
  await runHousekeeping(market.world)
  const over = await statementOf(agent, id)

  const delivery = { kind: 'answered', http_status: 402 }
  const tx = { tx_hash: null, settled_at: null, delivery }
  expect(open).toMatchObject({
    mandate: { spent: { total_usd: '0.01', payments: 1 } },
    payments: [{ payment_id: attempt, status: 'unknown', counted_usd: '0.01', ...tx }],
  })
  expect(over).toMatchObject({
    mandate: { spent: { total_usd: '0', payments: 0 } },
    payments: [{ payment_id: attempt, status: 'released', counted_usd: '0', ...tx }],
  })
})

test('pages follow one another without a gap, the latest first, under keys of their own', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { id } = await giveMandate(market, agent)
  const attempts: string[] = []
  for (let n = 0; n < 5; n += 1) attempts.unshift(await buy(agent))

  const first = await statementOf(agent, id, { limit: '2' })
  const second = await statementOf(agent, id, { limit: '2', cursor: first.next_cursor ?? '' })
  const third = await statementOf(agent, id, { limit: '2', cursor: second.next_cursor ?? '' })

  const pages = [first, second, third].map((page) => page.payments.map((one) => one.payment_id))
  expect(pages).toEqual([attempts.slice(0, 2), attempts.slice(2, 4), attempts.slice(4)])
  expect(third.next_cursor).toBeNull()
})

test('one that waits for its owner has no consent and no payments', async () => {
  const agent = await market.agent('pay')
  const { id } = await askMandate(market, agent)

  expect(await statementOf(await agent.withKey('read'), id)).toMatchObject({
    mandate: { status: 'pending_approval' },
    consent: null,
    payments: [],
    next_cursor: null,
  })
})

test('the database tells no payments of a mandate to another account', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { id } = await giveMandate(market, agent)
  await buy(agent)
  const list = async ({ key }: Agent) => {
    const credential = await credentialOf(key, pepper)
    return market.world.db.call('list_mandate_payments', { credential, mandate: id, page: 5 })
  }

  expect(await list(agent)).toHaveLength(1)
  expect(await list(await market.agent('full'))).toEqual([])
})

test("another account's payment is no place in a statement", async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { id } = await giveMandate(market, agent)
  await buy(agent)
  const other = await market.agent('pay', { usdc: 1 })
  await giveMandate(market, other)
  const theirs = await buy(other)

  const page = await statementOf(agent, id, { cursor: theirs })

  expect(page.payments).toEqual([])
})
