import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { startChain } from '../../scripts/local/chain.ts'
import { signedIn } from '../support/browserless.ts'
import { attemptOf, execute, openMarket, prepare, reservedUsd } from '../support/market.ts'
import { namedWith, textWith } from '../support/matching.ts'
import type { Agent } from '../support/world.ts'

const arbitrum = await startChain({ chainId: 421614 })
afterAll(() => arbitrum.stop())
const market = await openMarket({ rpcUrls: { [arbitrum.network]: [arbitrum.rpcUrl] } })
const { merchant, hostile, chain } = market

const offer = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '10000',
  asset: chain.usdc,
  payTo: merchant.payTo,
  maxTimeoutSeconds: 120,
  extra: { name: 'USDC', version: '2' },
}
const other = {
  ...offer,
  network: 'eip155:421614',
  asset: arbitrum.usdc,
  extra: { name: 'USD Coin', version: '2' },
}

const challenge = z.looseObject({ x402Version: z.int(), accepts: z.array(z.unknown()) })

function prepareOffers(agent: Agent, ...accepts: object[]) {
  return prepare(agent, { resource_url: merchant.v2Url, x402Version: 2, accepts })
}

const terms = {
  protocol: 'x402',
  transfer_method: 'eip3009',
  version: 2,
  scheme: 'exact',
  network: 'eip155:84532',
  token: 'USDC',
  token_address: chain.usdc,
  amount: '0.01',
  amount_atomic: '10000',
  amount_usd: '0.01',
  pay_to: merchant.payTo,
  origin: merchant.url,
  method: 'GET',
}

test('fetches the challenge and freezes its terms, reserving and sending nothing', async () => {
  const agent = await market.agent('pay', { usdc: 1 })

  const answer = await prepare(agent, { resource_url: merchant.v2Url })

  expect(answer).toMatchObject({
    status: 200,
    body: {
      requires_user_confirm: true,
      reasons: [{ code: 'new_recipient' }, { code: 'new_device' }],
      terms: { ...terms, valid_seconds: 300 },
      confirmation: { level: 'agent_asserted', status: 'pending' },
      summary: `Pay 0.01 USDC on Base Sepolia to ${merchant.payTo} for ${merchant.url}.`,
      gap_id: 'GAP_X402_V1',
    },
  })
  expect(await reservedUsd(agent)).toBe('0')
  expect(await market.usdcOf(agent.address)).toBe(1_000_000n)
})

test('takes the challenge as fields, as header and from a version 1 body alike', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const asked = await fetch(merchant.v2Url)
  const header = asked.headers.get('payment-required') ?? ''
  const fields = challenge.parse(JSON.parse(atob(header)))
  const version1 = challenge.parse(await (await fetch(merchant.v1Url)).json())

  const answers = [
    await prepare(agent, { resource_url: merchant.v2Url, ...fields }),
    await prepare(agent, { resource_url: merchant.v2Url, payment_required: header }),
    await prepare(agent, { resource_url: merchant.v1Url, ...version1 }),
  ]
  const paid = await Promise.all(answers.map((answer) => execute(agent, attemptOf(answer))))

  expect(answers.map(({ body }) => body['terms'])).toEqual([
    { ...terms, valid_seconds: 300 },
    { ...terms, valid_seconds: 300 },
    { ...terms, version: 1, valid_seconds: 300 },
  ])
  expect(paid.map(({ body }) => body['status'])).toEqual(['settled', 'settled', 'settled'])
})

test('a challenge that was given is not asked for again', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const resource_url = `${hostile.url}/terms/honest`
  const before = hostile.requests('/terms/honest').length

  await prepare(agent, { resource_url, x402Version: 2, accepts: [offer] })

  expect(hostile.requests('/terms/honest')).toHaveLength(before)
})

test('picks the cheapest offer that the wallet can pay, wherever it stands', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const dear = { ...offer, amount: '20000' }
  const elsewhere = { ...other, amount: '1' }
  const foreign = { ...offer, network: 'eip155:1', amount: '1' }

  const answer = await prepareOffers(agent, foreign, dear, elsewhere, offer)

  expect(answer.body['terms']).toMatchObject({ network: 'eip155:84532', amount_atomic: '10000' })
})

test('never falls back to the first offer when none can be paid', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const foreign = { ...offer, network: 'eip155:1' }
  const upto = { ...offer, scheme: 'upto' }

  const answer = await prepareOffers(agent, foreign, upto)

  expect(answer).toMatchObject({
    status: 422,
    body: {
      error: 'unsupported_scheme',
      details: {
        offers: [
          { untrusted: namedWith({ network: 'eip155:1' }), reason: textWith('not connected') },
          {
            untrusted: namedWith({ scheme: 'upto' }),
            reason: textWith('facilitatorAddress is not'),
          },
        ],
      },
    },
  })
})

test('says what is missing when no offered token is funded', async () => {
  const agent = await market.agent('pay')

  const answer = await prepareOffers(agent, { ...offer, amount: '20000' }, offer)

  expect(answer).toMatchObject({
    status: 409,
    body: {
      error: 'insufficient_funds',
      details: { chain: 'eip155:84532', token: 'USDC', available: '0', needed: '0.01' },
    },
  })
})

test('what is promised already is not offered a second time', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const most = { ...offer, amount: '600000' }
  const first = await prepare(agent, {
    resource_url: `${hostile.url}/paid/ok`,
    x402Version: 2,
    accepts: [most],
  })
  await execute(agent, attemptOf(first))

  const second = await prepareOffers(agent, most)

  expect(second).toMatchObject({
    status: 409,
    body: { error: 'insufficient_funds', details: { available: '0.4', needed: '0.6' } },
  })
})

test('more than the agent may say for its user goes to the owner, word or no word', async () => {
  const agent = await market.agent('pay', { usdc: 50 })
  const path = '/settled/ok'
  const accepts = [{ ...offer, amount: '10000001' }]
  const resource_url = `${hostile.url}${path}?owner`

  const answer = await prepare(agent, { resource_url, x402Version: 2, accepts })
  const asserted = await execute(agent, attemptOf(answer), true)

  for (const { body } of [answer, asserted]) {
    expect(body).toMatchObject({
      requires_user_confirm: true,
      confirmation: { level: 'user_session', status: 'pending' },
    })
  }
  expect(asserted.body).toMatchObject({
    status: 'awaiting_confirmation',
    reasons: [{ code: 'asserted_new_recipient_limit', headroom_usd: '10' }],
  })
  expect(hostile.requests(path)).toEqual([])
  expect(await market.usdcOf(agent.address)).toBe(50_000_000n)
})

test('the same Idempotency-Key answers the same attempt, and another body is refused', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const key = { 'idempotency-key': 'prepare-1' }
  const body = { resource_url: `${hostile.url}/terms/rising-price` }

  const [first, second] = await Promise.all([prepare(agent, body, key), prepare(agent, body, key)])
  const differing = await prepare(agent, { resource_url: merchant.v2Url }, key)

  expect(second.body).toEqual(first.body)
  expect(first.status).toBe(200)
  expect(hostile.requests('/terms/rising-price')).toHaveLength(1)
  expect(differing).toMatchObject({ status: 422, body: { error: 'idempotency_mismatch' } })
})

test.each([
  ['a page that is free', () => `${merchant.url}/free`, 409, 'no_payment_required'],
  ['a server error', () => `${hostile.url}/unpaid/status-500`, 409, 'no_payment_required'],
  ['a redirect', () => `${hostile.url}/unpaid/redirect-private`, 502, 'resource_unavailable'],
  ['a closed socket', () => `${hostile.url}/unpaid/close-socket`, 502, 'resource_unavailable'],
  ['an endless body', () => `${hostile.url}/unpaid/huge-body`, 422, 'invalid_challenge'],
  ['a bomb', () => `${hostile.url}/unpaid/gzip-bomb`, 422, 'resource_refused'],
  ['nobody', () => 'http://127.0.0.1:9/', 502, 'resource_unavailable'],
  ['a private network', () => 'https://10.0.0.1/', 422, 'resource_refused'],
  ['metadata', () => 'http://169.254.169.254/latest', 422, 'resource_refused'],
])('%s is answered as what it is', async (_name, urlOf, status, error) => {
  const agent = await market.agent('pay', { usdc: 1 })

  const answer = await prepare(agent, { resource_url: urlOf() })

  expect(answer).toMatchObject({ status, body: { error } })
})

test('the query and the body of the first request are those of the paid one', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const url = `${hostile.url}/settled/no-receipt?a=%2F&b=c%20d`
  const prepared = await prepare(agent, {
    resource_url: url,
    method: 'PUT',
    headers: { 'x-order': '7' },
    body: 'one',
  })
  await execute(agent, attemptOf(prepared))

  const seen = hostile.requests('/settled/no-receipt').map(({ method, url: at, headers }) => {
    return { method, url: at, order: headers['x-order'], bytes: headers['content-length'] }
  })
  const same = { method: 'PUT', url, order: '7', bytes: '3' }
  expect(seen).toEqual([same, same])
})

test('a merchant that names the own wallet of the payer is refused', async () => {
  const agent = await market.agent('pay', { usdc: 1 })

  const answer = await prepareOffers(agent, { ...offer, payTo: agent.address })

  expect(answer).toMatchObject({ status: 422, body: { error: 'recipient_refused' } })
})

test('a purchase carries its memo to the page of the owner', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const owner = await signedIn(market, agent)
  const memo = 'The weather for tomorrow'

  const answer = await prepare(agent, { resource_url: `${hostile.url}/settled/ok?memo`, memo })

  const { text } = await owner.visit(`/web/approve/${attemptOf(answer)}`)
  expect(text).toContain(memo)
})
