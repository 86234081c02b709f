/** Payments of x402 under a mandate: what is carried with nobody asked, and each rule that says no. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import type { MandateOrder } from '../support/mandates.ts'
import { askMandate, giveMandate } from '../support/mandates.ts'
import type { Market } from '../support/market.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'
import type { Shop } from '../support/shop.ts'
import { openShop } from '../support/shop.ts'
import type { Agent } from '../support/world.ts'

let market: Market
let shop: Shop
beforeAll(async () => {
  market = await openMarket()
  shop = await openShop(market)
})

async function shopping(order: MandateOrder = {}) {
  shop.asks = {}
  shop.names = undefined
  const agent = await market.agent('pay', { usdc: 10 })
  return { agent, ...(await giveMandate(market, agent, order)) }
}

const ask = (agent: Agent, path = '/data') => prepare(agent, { resource_url: `${shop.url}${path}` })

const reasonsOf = z.object({
  reasons: z.array(z.looseObject({ code: z.string(), mandate_id: z.string().optional() })),
})

/** The rules of one mandate that a payment fails. */
function failing(body: unknown, mandate: string): string[] {
  const { reasons } = reasonsOf.parse(body)
  return reasons.flatMap((reason) => (reason.mandate_id === mandate ? [reason.code] : []))
}

test('a payment to a merchant of a mandate is made with nobody asked', async () => {
  const { agent, id } = await shopping({ max_total_usd_micros: '20000' })

  const prepared = await ask(agent)
  const paid = await execute(agent, attemptOf(prepared), false)
  const seen = await agent.post('/transfer-status', { transfer_id: attemptOf(prepared) })

  expect(prepared).toMatchObject({
    status: 200,
    body: { requires_user_confirm: false, reasons: [], covered_by: { mandate_id: id } },
  })
  expect(prepared.body).not.toHaveProperty('confirmation')
  const carried = { consent_level: 'mandate', mandate_id: id }
  expect(paid.body).toMatchObject({ status: 'settled', response: { status: 200 }, ...carried })
  expect(seen.body).toMatchObject({ status: 'settled', ...carried })
})
