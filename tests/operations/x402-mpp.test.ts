/** The chain decides the outcome of an MPP charge, even if the server lies about it. */
import { Challenge } from 'mppx'
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { answering, serverThat } from '../support/http.ts'
import { attemptOf, execute, openMarket, prepare, reservedUsd } from '../support/market.ts'
import { anyText, namedWith, textWith } from '../support/matching.ts'
import type { Agent } from '../support/world.ts'

const market = await openMarket()
const { chain, hostile } = market
const usd = 1_000_000n
let challenges = 0

/** Returns a fresh challenge that the agent brings from elsewhere. */
function challenge(changes: Record<string, unknown> = {}): string {
  challenges += 1
  return Challenge.serialize(
    Challenge.from({
      id: `challenge-${challenges}`,
      realm: 'merchant.com',
      method: 'evm',
      intent: 'charge',
      expires: new Date(market.world.now().getTime() + 300_000).toISOString(),
      request: {
        amount: '10000',
        currency: chain.usdc,
        recipient: hostile.payTo,
        methodDetails: { chainId: chain.chainId, credentialTypes: ['authorization'] },
      },
      ...changes,
    }),
  )
}

function prepareAt(agent: Agent, resource_url: string, www_authenticate = challenge()) {
  return prepare(agent, { resource_url, www_authenticate })
}

test('a receipt that the chain does not bear out settles nothing and stays reserved', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const reference = `0x${'ab'.repeat(32)}`
  const receipt = { status: 'success', method: 'evm', reference, timestamp: '2026-09-01T12:00:00Z' }
  const header = Buffer.from(JSON.stringify(receipt)).toString('base64url')
  const shop = await serverThat(answering(200, { 'payment-receipt': header }, 'paid'))
  const attempt = attemptOf(await prepareAt(agent, shop.url))

  const answer = await execute(agent, attempt)
  const reserved = await reservedUsd(agent)
  await market.tick(1_300)
  await market.passOnChain(1_300)
  await runHousekeeping(market.world)
  const after = await execute(agent, attempt)

  expect(answer.body).toMatchObject({ status: 'unknown', reserved_until: anyText })
  expect(answer.body).not.toHaveProperty('tx_hash')
  expect(reserved).toBe('0.01')
  expect(after.body).toMatchObject({ status: 'rejected_unpaid' })
  expect([await reservedUsd(agent), await market.usdcOf(agent.address)]).toEqual(['0', usd])
})

test('a new challenge after payment is a refusal, and is not answered', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const headers = { 'www-authenticate': challenge() }
  const body = JSON.stringify({ title: 'Payment Required', detail: 'The signature is stale.' })
  const shop = await serverThat(answering(402, headers, body))

  const refused = await execute(agent, attemptOf(await prepareAt(agent, shop.url)))

  expect(refused.body).toMatchObject({
    status: 'rejected_unpaid',
    reasons: [
      { code: 'payment_refused', untrusted: { text: 'The signature is stale.' } },
      { code: 'not_settled_yet' },
    ],
  })
  expect(await market.usdcOf(agent.address)).toBe(usd)
})

test('a challenge that mppx gives after a settlement that failed, too, leaves it unknown', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const headers = { 'www-authenticate': challenge() }
  const type = 'https://paymentauth.org/problems/verification-failed'
  const body = JSON.stringify({ type, detail: 'Payment verification failed: settlement_pending.' })
  const shop = await serverThat(answering(402, headers, body))

  const answer = await execute(agent, attemptOf(await prepareAt(agent, shop.url)))

  expect(answer.body).toMatchObject({
    status: 'unknown',
    reasons: [
      { code: 'payment_refused', untrusted: { text: textWith('settlement_pending') } },
      { code: 'not_settled_yet' },
    ],
  })
})

test('other terms after payment are told as such', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const dearer = { amount: '20000', currency: chain.usdc, recipient: hostile.payTo }
  const methodDetails = { chainId: chain.chainId, credentialTypes: ['authorization'] }
  const headers = { 'www-authenticate': challenge({ request: { ...dearer, methodDetails } }) }
  const shop = await serverThat(answering(402, headers, '{}'))

  const refused = await execute(agent, attemptOf(await prepareAt(agent, shop.url)))

  expect(refused.body['reasons']).toMatchObject([{ code: 'terms_changed' }, {}])
})

test('what no dialect of ours can pay is answered with what it asks for', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const lightning = 'L402 macaroon="AGIAJE", invoice="lnbc2500u1pvjluez"'
  const stripe = challenge({ method: 'stripe', request: { amount: '500', currency: 'usd' } })
  const headers = { 'www-authenticate': `${lightning}, ${stripe}`, 'crawler-price': 'USD 0.05' }
  const shop = await serverThat(answering(402, headers, ''))

  const answer = await prepare(agent, { resource_url: shop.url })

  expect(answer).toMatchObject({
    status: 422,
    body: {
      error: 'unsupported_scheme',
      details: {
        offers: [
          { protocol: 'mpp', untrusted: namedWith({ method: 'stripe', amount: '500' }) },
          { protocol: 'l402', untrusted: namedWith({ amount_btc: '0.0025' }) },
          { protocol: 'pay-per-crawl', untrusted: namedWith({ price: 'USD 0.05' }) },
        ],
      },
    },
  })
})
