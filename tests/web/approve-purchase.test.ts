/** The approval page of a purchase shows its warnings. */
import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { giveMandate } from '../support/mandates.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'
import { openShop } from '../support/shop.ts'

const market = await openMarket()
const shop = await openShop(market)

test('shows what changed since the resource was paid last, and whose it claims to be', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { owner } = await giveMandate(market, agent)
  const buy = { resource_url: `${shop.url}/data` }
  await execute(agent, attemptOf(await prepare(agent, buy)), false)
  await owner.call('owner_set_limit', { limit_name: 'asserted_daily', usd_micros: '0' })
  shop.asks = { amount: '30000', payTo: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' }
  shop.names = 'https://elsewhere.example.com/data'
  const attempt = attemptOf(await prepare(agent, buy))

  const page = await (await signedIn(market, agent)).visit(`/web/approve/${attempt}`)

  expect(page.text).toContain('This resource was paid before, at another address.')
  expect(page.text).toContain('The price is far from what this resource cost before.')
  expect(page.text).toContain('names a resource on another host')
})

test('shows what is asked for, and not the merchant alone', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { owner } = await giveMandate(market, agent, { max_payment_usd_micros: '1' })
  await owner.call('owner_set_limit', { limit_name: 'asserted_daily', usd_micros: '0' })
  const url = `${shop.url}/gift?for=<b>mallory`
  const order = { resource_url: url, method: 'POST', body: '{}' }
  const attempt = attemptOf(await prepare(agent, order))

  const page = await (await signedIn(market, agent)).visit(`/web/approve/${attempt}`)

  expect(page.text).toContain(`POST ${shop.url}/gift?for=%3Cb%3Emallory, with a body`)
})
