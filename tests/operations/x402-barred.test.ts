/** A payment that the token's issuer would block, or that lacks funds, is refused before anything is signed. */
import { expect, test } from 'vitest'
import { blacklist, pause, unblacklist, unpause } from '../../scripts/local/chain/fund.ts'
import { fund } from '../../scripts/local/chain.ts'
import {
  attemptOf,
  execute,
  openMarket,
  prepare,
  priceAtomic,
  reservedUsd,
} from '../support/market.ts'
import { openShop } from '../support/shop.ts'
import { payTo } from '../support/x402.ts'

const market = await openMarket()
const { chain } = market
const shop = await openShop(market)
const usd = 1_000_000n

const table = {
  'a paused token': {
    bar: () => pause(chain),
    lift: () => unpause(chain),
    refusal: {
      status: 503,
      body: {
        error: 'unavailable',
        message: 'The issuer of USDC has paused all transfers on this chain.',
      },
    },
  },
  'a barred wallet': {
    bar: (wallet: `0x${string}`) => blacklist(chain, wallet),
    lift: (wallet: `0x${string}`) => unblacklist(chain, wallet),
    refusal: {
      status: 503,
      body: { error: 'unavailable', message: 'The issuer of USDC bars this wallet.' },
    },
  },
  'a barred payee': {
    bar: () => blacklist(chain, payTo),
    lift: () => unblacklist(chain, payTo),
    refusal: {
      status: 422,
      body: {
        error: 'recipient_refused',
        message: 'The issuer of USDC bars this recipient.',
      },
    },
  },
}

test.each(Object.entries(table))(
  '%s is told at prepare and at execute as for a transfer, and nothing is signed',
  async (_, { bar, lift, refusal }) => {
    const agent = await market.agent('pay', { usdc: 1 })
    const before = attemptOf(await prepare(agent, { resource_url: shop.url }))

    await bar(agent.address)
    await market.tick(31)
    const [prepared, executed, transfer] = [
      await prepare(agent, { resource_url: shop.url }),
      await execute(agent, before),
      await agent.post('/wallet-custodial-transfer', {
        recipient: payTo,
        chain: 'base-sepolia',
        token: 'USDC',
        amount: '0.01',
        user_confirmed: true,
      }),
    ]
    const reserved = await reservedUsd(agent)
    await lift(agent.address)
    const after = await execute(agent, before)

    expect([prepared, executed, transfer]).toMatchObject([refusal, refusal, refusal])
    expect(reserved).toBe('0')
    expect(after.body).toMatchObject({ status: 'settled' })
    expect(await market.usdcOf(agent.address)).toBe(usd - 10_000n)
  },
)

test('an offer with a barred payee is passed over for the next', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const other = '0x976EA74026E726554dB657fA54763abd0C3a0aa9'
  const [offer] = shop.challenge()['accepts'] as [Record<string, unknown>]
  await blacklist(chain, payTo)

  const prepared = await prepare(agent, {
    resource_url: shop.url,
    ...shop.challenge(),
    accepts: [offer, { ...offer, amount: '10001', payTo: other }],
  })
  await unblacklist(chain, payTo)

  expect(prepared.body).toMatchObject({ terms: { pay_to: other, amount_atomic: '10001' } })
})

test('of two purchases that were prepared with the money for one, the second is refused unsigned', async () => {
  const agent = await market.agent('pay')
  await fund(market.chain, agent.address, { usdcAtomic: priceAtomic })
  const first = await prepare(agent, { resource_url: `${market.merchant.v2Url}?first` })
  const second = await prepare(agent, { resource_url: `${market.merchant.v2Url}?second` })

  const paid = await execute(agent, attemptOf(first))
  const refused = await execute(agent, attemptOf(second))

  expect(paid.body).toMatchObject({ status: 'settled' })
  expect(refused.body).toMatchObject({ error: 'insufficient_funds' })
  expect(await reservedUsd(agent)).toBe('0')
})

test('a deposit that was spent since a purchase was prepared does not count against it', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const payee = (await market.agent('read')).address
  const attempt = attemptOf(await prepare(agent, { resource_url: market.merchant.v2Url }))
  await fund(market.chain, agent.address, { usdcAtomic: 5n * usd })
  await market.acquaint(agent, payee)
  const order = { recipient: payee, chain: 'base-sepolia', token: 'USDC', amount: '3' }
  const { body } = await agent.post('/wallet-custodial-transfer', order)
  await agent.post('/transfer-status', { transfer_id: body['transfer_id'] })

  const paid = await execute(agent, attempt)

  expect(paid.body).toMatchObject({ status: 'settled' })
  expect(await market.usdcOf(agent.address)).toBe(3n * usd - priceAtomic)
})
