/** The sandbox sells to the official clients of x402 and MPP, without any code of the account. */
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/v1'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { Receipt } from 'mppx'
import { Mppx } from 'mppx/client'
import { charge } from 'mppx/evm/client'
import { expect, test } from 'vitest'
import { openMarket, priceAtomic } from '../support/market.ts'
import { textLike } from '../support/matching.ts'
import { openBuyer, openSandbox } from '../support/sandbox.ts'

const market = await openMarket()
const sandbox = await openSandbox(market)
const usd = 1_000_000n
const hash = textLike(/^0x[0-9a-f]{64}$/)

test.each(['v1', 'v2'])('the official client of x402 buys by %s', async (version) => {
  const buyer = await openBuyer(market)
  const client = new x402Client().setSpendControls(false)
  client.register('eip155:*', new ExactEvmScheme(buyer))
  client.registerV1('base-sepolia', new ExactEvmSchemeV1(buyer))
  const paying = wrapFetchWithPayment(fetch, client)

  const answer = await paying(`${sandbox.url}/sandbox/${version}/report`)

  expect([answer.status, await answer.json()]).toMatchObject([
    200,
    { paid: true, payment: { payer: buyer.address, transaction: hash } },
  ])
  expect(await market.usdcOf(buyer.address)).toBe(usd - priceAtomic)
})

test('the official client of MPP buys, and reads the receipt', async () => {
  const buyer = await openBuyer(market)
  const authorization = { name: 'USDC', version: '2' }
  const methods = [charge({ account: buyer, authorization })] as const
  const client = Mppx.create({ methods, polyfill: false })

  const answer = await client.fetch(`${sandbox.url}/sandbox/mpp/report`)

  expect(answer.status).toBe(200)
  expect(Receipt.fromResponse(answer)).toMatchObject({ method: 'evm', reference: hash })
  expect(await market.usdcOf(buyer.address)).toBe(usd - priceAtomic)
})
