/** A purchase that waits, of a resource that was paid before and has changed since. */
import { giveMandate } from './mandates.ts'
import { attemptOf, execute, type Market, prepare } from './market.ts'
import type { Shop } from './shop.ts'

/** Warnings about such a purchase: another payee, another price, and a resource on another host. */
export const changeWarnings = [
  'This resource was paid before, at another address.',
  'The price is far from what this resource cost before.',
  'names a resource on another host',
]

/** Buys from the shop under a mandate, changes what the shop asks, and prepares the purchase again. */
export async function changedPurchase(market: Market, shop: Shop) {
  const agent = await market.agent('pay', { usdc: 1 })
  const { owner } = await giveMandate(market, agent)
  const buy = { resource_url: `${shop.url}/data` }
  await execute(agent, attemptOf(await prepare(agent, buy)), false)
  await owner.call('owner_set_limits', { limits: { asserted_daily: '0' } })
  shop.asks = { amount: '30000', payTo: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' }
  shop.names = 'https://elsewhere.example.com/data'
  return { agent, attempt: attemptOf(await prepare(agent, buy)) }
}
