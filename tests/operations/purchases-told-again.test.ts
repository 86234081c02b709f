/** A purchase that an agent asks for again while it waits is the same one, and an approved one is paid once. */
import { Challenge } from 'mppx'
import { beforeAll, expect, test } from 'vitest'
import { attemptOf, execute, type Market, openMarket, prepare } from '../support/market.ts'
import { ownerOf } from '../support/owner.ts'
import type { Agent } from '../support/world.ts'

let market: Market
let resource_url: string
beforeAll(async () => {
  market = await openMarket()
  resource_url = market.merchant.v2Url
})

/** Returns an agent whose word carries nothing, so that its purchases wait for the owner. */
async function withOwner() {
  const agent = await market.agent('pay', { usdc: 1 })
  const owner = await ownerOf(market, agent)
  await owner.call('owner_set_limits', { limits: { asserted_daily: '0' } })
  return { agent, owner }
}

async function told(agent: Agent, body: object, headers?: Record<string, string>) {
  return attemptOf(await prepare(agent, body, headers))
}

function offer(maxTimeoutSeconds: number) {
  const { chain, merchant } = market
  const extra = { name: 'USDC', version: '2' }
  const [network, asset, payTo] = ['eip155:84532', chain.usdc, merchant.payTo]
  const terms = { scheme: 'exact', network, amount: '10000', asset, payTo, extra }
  return { resource_url, x402Version: 2, accepts: [{ ...terms, maxTimeoutSeconds }] }
}

test('a purchase that is asked for again waits once, and is paid once after the approval', async () => {
  const { agent, owner } = await withOwner()

  const waiting = [await told(agent, { resource_url }), await told(agent, { resource_url })]
  const [attempt = ''] = waiting
  await owner.decide(attempt, 'approved')
  const approved = await prepare(agent, { resource_url })
  const paid = await execute(agent, attemptOf(approved))

  expect(new Set([...waiting, attemptOf(approved)])).toEqual(new Set([attempt]))
  expect(approved.body).toMatchObject({
    confirmation: { status: 'approved' },
    next: { tool: 'x402_payment_execute', arguments: { attempt_id: attempt } },
  })
  expect(paid.body).toMatchObject({ status: 'settled', consent_level: 'user_session' })
  expect(await market.usdcOf(agent.address)).toBe(990_000n)
})

test('another request, note, price, key or Idempotency-Key is another purchase', async () => {
  const { agent } = await withOwner()
  const first = await told(agent, offer(60))
  const [accepted] = offer(60).accepts
  const others = [
    { resource_url: `${resource_url}?page=2` },
    { method: 'POST', body: '{}' },
    { memo: 'for Ada' },
    { accepts: [{ ...accepted, amount: '10001' }] },
  ]

  const apart = [
    ...(await Promise.all(others.map((one) => told(agent, { ...offer(60), ...one })))),
    await told(await agent.withKey('pay'), offer(60)),
    await told(agent, offer(60), { 'idempotency-key': 'another-wish' }),
  ]

  expect(new Set([first, ...apart]).size).toBe(7)
  expect(await told(agent, offer(60))).toBe(first)
})

test('it takes the newer offer until its owner has approved it', async () => {
  const { agent, owner } = await withOwner()
  const attempt = await told(agent, offer(60))

  const renewed = await prepare(agent, offer(90))
  await owner.decide(attempt, 'approved')
  const late = await prepare(agent, offer(120))

  const kept = { attempt_id: attempt, terms: { valid_seconds: 90 } }
  expect([renewed.body, late.body]).toMatchObject([kept, kept])
})

test('a new challenge of MPP continues the purchase under the first one', async () => {
  const { agent } = await withOwner()
  const { chain, hostile, world } = market
  const challenge = (id: string) => ({
    resource_url: hostile.url,
    www_authenticate: Challenge.serialize(
      Challenge.from({
        id,
        realm: 'merchant.com',
        method: 'evm',
        intent: 'charge',
        expires: new Date(world.now().getTime() + 300_000).toISOString(),
        request: {
          amount: '10000',
          currency: chain.usdc,
          recipient: hostile.payTo,
          methodDetails: { chainId: chain.chainId, credentialTypes: ['authorization'] },
        },
      }),
    ),
  })

  const first = await told(agent, challenge('first'))

  expect(await told(agent, challenge('second'))).toBe(first)
})

test('an approved purchase that is asked for again within ten minutes is asked about once', async () => {
  const { agent, owner } = await withOwner()
  const first = await told(agent, { resource_url })
  await owner.decide(first, 'approved', 'remember_payee', 'remember_device')
  await execute(agent, first)

  const again = await prepare(agent, { resource_url })
  const keyed = await prepare(agent, { resource_url }, { 'idempotency-key': 'meant' })
  const unsaid = await execute(agent, attemptOf(again), false)
  const held = await market.usdcOf(agent.address)
  const meant = await execute(agent, attemptOf(again))

  expect(again.body).toMatchObject({
    requires_user_confirm: true,
    reasons: [{ code: 'possible_duplicate' }],
    confirmation: { level: 'agent_asserted' },
  })
  expect(keyed.body).toMatchObject({ requires_user_confirm: false })
  expect(unsaid.body).toMatchObject({ status: 'awaiting_confirmation' })
  expect(held).toBe(990_000n)
  expect(meant.body).toMatchObject({ status: 'settled' })
  expect(await market.usdcOf(agent.address)).toBe(980_000n)
})

test('what the agent may buy by itself is bought again without a question', async () => {
  const agent = await market.agent('pay', { usdc: 1 })

  const bought = []
  for (const _ of [1, 2, 3]) bought.push(await execute(agent, await told(agent, { resource_url })))

  for (const { body } of bought) expect(body).toMatchObject({ status: 'settled' })
  expect(await market.usdcOf(agent.address)).toBe(970_000n)
})
