/** A paid resource that needs its owner is paid once after approval, and never after a decline. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import {
  attemptOf,
  execute,
  type Market,
  openMarket,
  prepare,
  priceAtomic,
} from '../support/market.ts'
import { ownerOf } from '../support/owner.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})

/** Prepares an attempt that needs the owner, since the limit on the agent's word is zero. */
async function waiting() {
  const agent = await market.agent('pay', { usdc: 1 })
  const owner = await ownerOf(market, agent)
  await owner.call('owner_set_limits', { limits: { asserted_daily: '0' } })
  const prepared = await prepare(agent, { resource_url: market.merchant.v2Url })
  return { agent, owner, prepared, attempt: attemptOf(prepared) }
}

test('an attempt that the owner approved is paid once and delivered', async () => {
  const { agent, owner, prepared, attempt } = await waiting()
  expect(prepared.body).toMatchObject({
    requires_user_confirm: true,
    confirmation: {
      level: 'user_session',
      status: 'pending',
      url: `http://localhost/web/approve/${attempt}`,
    },
  })
  expect((await execute(agent, attempt)).body).toMatchObject({ status: 'awaiting_confirmation' })

  expect(await owner.decide(attempt, 'approved')).toBe('approved')
  const paid = await Promise.all([execute(agent, attempt), execute(agent, attempt)])

  for (const { body } of paid) {
    expect(body).toMatchObject({
      status: 'settled',
      consent_level: 'user_session',
      response: { status: 200 },
    })
  }
  expect(await market.usdcOf(agent.address)).toBe(1_000_000n - priceAtomic)
})

test('an attempt that the owner declined asks the merchant for nothing', async () => {
  const { agent, owner, attempt } = await waiting()
  await owner.decide(attempt, 'declined')

  expect(await execute(agent, attempt)).toMatchObject({
    status: 409,
    body: { error: 'payment_closed', details: { confirmation: { status: 'declined' } } },
  })
  expect(await market.usdcOf(agent.address)).toBe(1_000_000n)
})

test('an attempt waits for its owner for a day', async () => {
  const { prepared } = await waiting()
  const { expires_at } = z.object({ expires_at: z.string() }).parse(prepared.body)

  const seconds = (Date.parse(expires_at) - market.world.now().getTime()) / 1000

  expect(Math.abs(seconds - 86_400)).toBeLessThan(60)
})
