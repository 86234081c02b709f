/** A mandate ends for good, once, when anybody who may pay revokes it. */
import { beforeAll, expect, test } from 'vitest'
import { askMandate, giveMandate } from '../support/mandates.ts'
import { attemptOf, execute, type Market, openMarket, prepare } from '../support/market.ts'
import { feedOf } from '../support/owner.ts'
import type { Agent } from '../support/world.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})

function revoke(agent: Agent, mandate_id: string) {
  return agent.post('/payment-mandate-revoke', { mandate_id })
}

const gap = { gap_id: 'GAP_PAYMENT_MANDATE_V1', gap_status: 'partial_live' }

test('a mandate is revoked once, however often it is asked for, and the feed tells it once', async () => {
  const agent = await market.agent('pay')
  const { id: mandate_id } = await giveMandate(market, agent)
  await market.db.setClock(new Date('2027-01-01T12:00:00Z'))

  const first = await revoke(agent, mandate_id)
  await market.tick(60)
  const second = await revoke(agent, mandate_id)

  const body = { mandate_id, status: 'revoked', revoked_at: '2027-01-01T12:00:00.000Z', ...gap }
  expect([first, second]).toMatchObject([
    { status: 200, body },
    { status: 200, body },
  ])
  const told = (await feedOf(market.db, agent)).filter((type) => type === 'mandate_revoked')
  expect(told).toHaveLength(1)
})

test('another key of the account ends it too, and one that waits can be ended as well', async () => {
  const agent = await market.agent('pay')
  const other = await agent.withKey('full')
  const { id } = await askMandate(market, agent)

  expect((await revoke(other, id)).body).toMatchObject({ mandate_id: id, status: 'revoked' })
})

test('what the owner ended stays as the owner ended it', async () => {
  const agent = await market.agent('pay')
  const declined = await askMandate(market, agent)
  const { id, owner } = await giveMandate(market, agent)
  await owner.call('owner_decide_mandate', {
    mandate: declined.id,
    decision: 'declined',
    digest: declined.digest,
  })
  await owner.call('owner_revoke_mandate', { mandate: id })
  const [row] = await market.db.sql`select revoked_at from private.mandates where id = ${id}`
  await market.tick(60)

  expect((await revoke(agent, declined.id)).body).toEqual({
    mandate_id: declined.id,
    status: 'declined',
    revoked_at: null,
    ...gap,
  })
  expect((await revoke(agent, id)).body).toMatchObject({
    status: 'revoked',
    revoked_at: new Date(String(row?.['revoked_at'])).toISOString(),
  })
})

test('a frozen account can still take a mandate back', async () => {
  const agent = await market.agent('full')
  const { id } = await giveMandate(market, agent)
  await agent.post('/account-freeze', {})

  expect(await revoke(agent, id)).toMatchObject({ status: 200, body: { status: 'revoked' } })
})

test('after it was answered, what was prepared under it is no longer paid with nobody asked', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { id } = await giveMandate(market, agent)
  const prepared = await prepare(agent, { resource_url: market.merchant.v2Url })

  await revoke(agent, id)
  const executed = await execute(agent, attemptOf(prepared), false)

  expect(prepared.body).toMatchObject({ requires_user_confirm: false })
  expect(executed.body).toMatchObject({ status: 'awaiting_confirmation' })
  expect(await market.usdcOf(agent.address)).toBe(1_000_000n)
})
