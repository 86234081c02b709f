/** The approval page of a purchase shows its warnings. */
import { expect, test } from 'vitest'
import { signedIn } from '../support/browserless.ts'
import { changedPurchase, changeWarnings } from '../support/changed-purchase.ts'
import { giveMandate } from '../support/mandates.ts'
import { attemptOf, openMarket, prepare } from '../support/market.ts'
import { openShop } from '../support/shop.ts'

const market = await openMarket()
const shop = await openShop(market)

test('shows what changed since the resource was paid last, and whose it claims to be', async () => {
  const { agent, attempt } = await changedPurchase(market, shop)

  const page = await (await signedIn(market, agent)).visit(`/web/approve/${attempt}`)

  for (const warning of changeWarnings) expect(page.text).toContain(warning)
})

test('shows what is asked for, and not the merchant alone', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const { owner } = await giveMandate(market, agent, { max_payment_usd_micros: '1' })
  await owner.call('owner_set_limits', { limits: { asserted_daily: '0' } })
  const url = `${shop.url}/gift?for=<b>mallory`
  const order = { resource_url: url, method: 'POST', body: '{}' }
  const attempt = attemptOf(await prepare(agent, order))

  const page = await (await signedIn(market, agent)).visit(`/web/approve/${attempt}`)

  expect(page.text).toContain(`POST ${shop.url}/gift?for=%3Cb%3Emallory, with a body`)
})
