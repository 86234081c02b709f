/** A mandate covers x402 payments without a question, and each of its rules can refuse one. */
import { beforeAll, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { askMandate, failedRules, giveMandate, type MandateOrder } from '../support/mandates.ts'
import {
  attemptOf,
  execute,
  type Market,
  openMarket,
  prepare,
  reservedUsd,
} from '../support/market.ts'
import { openShop, type Shop } from '../support/shop.ts'
import type { Agent } from '../support/world.ts'

let market: Market
let shop: Shop
beforeAll(async () => {
  market = await openMarket()
  shop = await openShop(market)
})

async function shopping(order: MandateOrder = {}) {
  const agent = await market.agent('pay', { usdc: 10 })
  return { agent, ...(await giveMandate(market, agent, order)) }
}

const ask = (agent: Agent, headers?: Record<string, string>) =>
  prepare(agent, { resource_url: `${shop.url}/data` }, headers)

test('a payment to the merchant of a mandate is made with nobody asked', async () => {
  const { agent, id } = await shopping({ max_total_usd_micros: '20000' })

  const prepared = await ask(agent)
  const attempt = attemptOf(prepared)
  const paid = await execute(agent, attempt, false)
  const seen = await agent.post('/transfer-status', { transfer_id: attempt })

  expect(prepared).toMatchObject({
    status: 200,
    body: { requires_user_confirm: false, reasons: [], covered_by: { mandate_id: id } },
  })
  expect(prepared.body).not.toHaveProperty('confirmation')
  const carried = { consent_level: 'mandate', mandate_id: id }
  expect(paid.body).toMatchObject({ status: 'settled', response: { status: 200 }, ...carried })
  expect(seen.body).toMatchObject({ status: 'settled', ...carried })
})

test('a payment under a mandate makes its recipient known to nobody', async () => {
  const { agent } = await shopping()
  await execute(agent, attemptOf(await ask(agent)), false)

  const known = await agent.post('/resolve-transfer-recipient', { recipient: shop.payTo })

  expect(known.body).toMatchObject({ known: false })
})

test('a payment under a mandate uses nothing of what is left without one', async () => {
  const { agent } = await shopping()
  await market.acquaint(agent, shop.payTo)
  await execute(agent, attemptOf(await ask(agent)), true)

  const { body } = await agent.get('/get-identity')

  expect(body).toMatchObject({
    limits: {
      automatic_daily: { left_usd: '200' },
      asserted_daily: { left_usd: '200' },
      daily_spending_cap: { left_usd: '999.99' },
    },
  })
})

/** Terms that refuse a payment of one cent, each with its code and the headroom left. */
const refusing: [string, MandateOrder, object][] = [
  [
    'per payment',
    { max_payment_usd_micros: '9999' },
    { code: 'mandate_payment_limit', headroom_usd: '0.009999' },
  ],
  ['by its chain', { chains: [8453] }, { code: 'other_chain' }],
  [
    'by its token',
    { tokens: ['0x808456652fdb597867f38412077A9182bf77359F'] },
    { code: 'other_token' },
  ],
  [
    'by its payee',
    { pay_to: ['0x90F79bf6EB2c4f870365E785982E1f101E93b906'] },
    { code: 'other_payee' },
  ],
]

test.each(refusing)('a mandate that does not reach %s says so', async (_rule, order, reason) => {
  const { agent, id } = await shopping(order)

  const { body } = await ask(agent)

  expect(body).toMatchObject({ requires_user_confirm: true })
  expect(body).not.toHaveProperty('covered_by')
  expect(failedRules(body, id)).toMatchObject([reason])
})

test.each([
  ['over 24 hours', { max_day_usd_micros: '15000' }, 'mandate_day_limit'],
  ['in all', { max_total_usd_micros: '15000' }, 'mandate_total_limit'],
])('a mandate that is used up %s says so, and what is left', async (_which, order, code) => {
  const { agent, id } = await shopping({ max_payment_usd_micros: '10000', ...order })
  await execute(agent, attemptOf(await ask(agent)), false)

  const { body } = await ask(agent)

  expect(failedRules(body, id)).toMatchObject([{ code, headroom_usd: '0.005' }])
})

test('the day of a mandate begins anew when its oldest payment is a day old', async () => {
  const { agent, id } = await shopping({ max_day_usd_micros: '15000', ttl_seconds: 200_000 })
  await execute(agent, attemptOf(await ask(agent)), false)
  const [reason] = failedRules((await ask(agent)).body, id)
  await market.passOnChain(1)
  await runHousekeeping(market.world)

  await market.tick(86_400 + 601)
  const again = await ask(agent)

  expect(reason?.resets_at).toBeTypeOf('string')
  expect(again.body).toMatchObject({ covered_by: { mandate_id: id } })
})

test('what waits for its owner covers nothing, and what is over is not told of', async () => {
  const { agent, owner, ...active } = await shopping()
  const asked = await askMandate(market, agent)
  await owner.call('owner_suspend_mandate', { mandate: active.id, suspended: true })
  const suspended = (await ask(agent)).body
  await owner.call('owner_revoke_mandate', { mandate: active.id })
  const revoked = (await ask(agent)).body
  await market.tick(86_401)
  const expired = (await ask(agent)).body

  expect(failedRules(suspended, active.id)).toMatchObject([{ code: 'mandate_suspended' }])
  expect(failedRules(suspended, asked.id)).toMatchObject([{ code: 'mandate_pending_approval' }])
  expect(failedRules(revoked, active.id)).toEqual([])
  expect(failedRules(expired, asked.id)).toEqual([])
})

test('another device than the one that asked for the mandate is asked about', async () => {
  const { agent, id } = await shopping()

  const { body } = await ask(agent, { 'x-device-id': 'another' })

  expect(failedRules(body, id)).toMatchObject([{ code: 'new_device' }])
})

test('another merchant is not covered, and its mandate is not told of', async () => {
  const { agent, id } = await shopping({ merchant_domain: 'localhost' })

  const { body } = await ask(agent)

  expect(body).toMatchObject({ requires_user_confirm: true })
  expect(failedRules(body, id)).toEqual([])
})

test('of several mandates the one that names the payee is used', async () => {
  const { agent } = await shopping()
  const pinned = await giveMandate(market, agent, { pay_to: [shop.payTo] })
  await giveMandate(market, agent)

  expect((await ask(agent)).body).toMatchObject({ covered_by: { mandate_id: pinned.id } })
})

test('what was prepared under a mandate that ended since waits for a word', async () => {
  const { agent, owner, id } = await shopping()
  const attempt = attemptOf(await ask(agent))
  await owner.call('owner_revoke_mandate', { mandate: id })

  const { body } = await execute(agent, attempt, false)

  expect(body).toMatchObject({ status: 'awaiting_confirmation', requires_user_confirm: true })
  expect(failedRules(body, id)).toEqual([])
  expect(await reservedUsd(agent)).toBe('0')
})

test('what was prepared while there was room for both is paid once', async () => {
  const { agent, id } = await shopping({ max_payments: 1 })
  const attempts = [attemptOf(await ask(agent)), attemptOf(await ask(agent))]

  const paid = await Promise.all(attempts.map((attempt) => execute(agent, attempt, false)))

  const waiting = paid.find(({ body }) => body['status'] === 'awaiting_confirmation')
  expect(paid.filter(({ body }) => body['status'] === 'settled')).toHaveLength(1)
  expect(failedRules(waiting?.body, id)).toEqual([])
})

test('nothing is paid under a mandate of a frozen account', async () => {
  const { agent } = await shopping()
  const attempt = attemptOf(await ask(agent))
  await (await agent.withKey('full')).post('/account-freeze', {})

  expect(await execute(agent, attempt, false)).toMatchObject({
    status: 403,
    body: { error: 'account_frozen' },
  })
})

test('no mandate lets the daily spending cap be passed', async () => {
  const { agent, owner } = await shopping()
  await owner.call('owner_set_limits', { limits: { daily_spending_cap: '9999' } })

  expect(await ask(agent)).toMatchObject({ status: 403, body: { error: 'limit_exceeded' } })
})
