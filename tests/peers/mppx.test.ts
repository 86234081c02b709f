/** MPP works with its official server and client, settled on a chain with the real USDC code. */
import { Challenge, Credential } from 'mppx'
import { charge } from 'mppx/evm/client'
import { hexToBytes } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { signAuthorization } from '../../shared/custody/authorization.ts'
import { storedNonce } from '../../shared/custody/nonce.ts'
import { mppCredential } from '../../shared/x402/mpp.ts'
import { sortOffers } from '../../shared/x402/offers.ts'
import {
  attemptOf,
  execute,
  openMarket,
  pay,
  prepare,
  priceAtomic,
  reservedUsd,
} from '../support/market.ts'
import { anyText, textWith } from '../support/matching.ts'
import { mppPayTo, startMppMerchant } from '../support/mpp-merchant.ts'
import { chainNamed, demandIn } from '../support/x402.ts'

const market = await openMarket()
const shop = await startMppMerchant(market.chain, market.facilitator.url)
const usd = 1_000_000n

async function challengeHeader(path = '/mpp/paid'): Promise<string> {
  const answer = await fetch(`${shop.url}${path}`)
  return answer.headers.get('www-authenticate') ?? ''
}

test('an MPP charge settles with the official server to the unit', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const before = await market.usdcOf(mppPayTo)

  const prepared = await prepare(agent, { resource_url: `${shop.url}/mpp/paid` })
  const paid = await execute(agent, attemptOf(prepared))

  expect(prepared.body['terms']).toMatchObject({
    protocol: 'mpp',
    scheme: 'evm/charge',
    network: 'eip155:84532',
    amount_atomic: '10000',
    pay_to: mppPayTo,
  })
  expect(paid.body).toMatchObject({
    status: 'settled',
    reasons: [],
    tx_hash: anyText,
    response: { status: 200, headers: { 'payment-receipt': anyText }, body_json: { paid: true } },
  })
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
  expect(await market.usdcOf(mppPayTo)).toBe(before + priceAtomic)
  expect(await reservedUsd(agent)).toBe('0')
})

test('the proof of an MPP charge names the challenge that its nonce was made from', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const paid = await pay(agent, { resource_url: `${shop.url}/mpp/paid` })

  const { tx_hash } = paid.body
  const proven = await agent.post('/transfer-status', { tx_hash, chain: 'base-sepolia' })

  const { challenge } = Credential.deserialize(shop.paid.at(-1)?.authorization ?? '')
  expect(proven.body).toMatchObject({
    status: 'settled',
    proof: { nonce_preimage: `${challenge.id}${challenge.realm}` },
  })
})

test('a server that offers x402 and MPP at one price is paid once, by x402', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  shop.paid.length = 0

  const paid = await pay(agent, { resource_url: `${shop.url}/open/paid` })

  expect(paid.body).toMatchObject({ status: 'settled', response: { status: 200 } })
  expect(shop.paid).toEqual([{ path: '/open/paid', authorization: undefined, x402: anyText }])
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

test.each([
  ['/bound/paid', undefined],
  ['/both/paid', '{"a":1}'],
])('a server that binds %s to its route is paid once, by MPP', async (path, body) => {
  const agent = await market.agent('pay', { usdc: 1 })
  shop.paid.length = 0

  const paid = await pay(agent, { resource_url: shop.url + path, body })

  expect(paid.body).toMatchObject({ status: 'settled', response: { status: 200 } })
  expect(shop.paid).toEqual([{ path, authorization: anyText, x402: undefined }])
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

test('one challenge is one attempt, however often it is prepared, and good for one payment', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const order = {
    resource_url: `${shop.url}/mpp/paid`,
    www_authenticate: await challengeHeader(),
  }

  const [first, second] = await Promise.all([prepare(agent, order), prepare(agent, order)])
  const elsewhere = await prepare(agent, { ...order, resource_url: `${shop.url}/mpp/paid?b` })
  const paid = await execute(agent, attemptOf(first))
  const third = await prepare(agent, order)

  expect(attemptOf(second)).toBe(attemptOf(first))
  expect(paid.body).toMatchObject({ status: 'settled' })
  for (const refused of [elsewhere, third]) {
    expect(refused).toMatchObject({
      status: 422,
      body: { error: 'invalid_challenge', message: textWith('good for one payment') },
    })
  }
  expect(await market.usdcOf(agent.address)).toBe(usd - priceAtomic)
})

test('an attempt ends with its challenge, before anything is signed', async () => {
  const agent = await market.agent('pay', { usdc: 1 })
  const prepared = await prepare(agent, { resource_url: `${shop.url}/mpp/paid` })
  shop.paid.length = 0
  // The shop's own clock goes on while ours stands, so the end is passed by more than a slow run takes.
  await market.tick(500)

  const late = await execute(agent, attemptOf(prepared))

  expect(late).toMatchObject({ status: 409, body: { error: 'payment_closed' } })
  expect(shop.paid).toEqual([])
  await market.tick(-500)
})

const credentialFields = z.object({ challenge: z.unknown(), payload: z.unknown() })

test("for one challenge our credential is the official client's, to the signature", async () => {
  const header = await challengeHeader()
  const privateKey = generatePrivateKey()
  const account = privateKeyToAccount(privateKey)
  const method = charge({ account, authorization: { name: 'USDC', version: '2' } })
  const challenge = Challenge.deserialize(header, { methods: [method] })
  const official = await method.createCredential({ challenge, context: {} })

  const demand = demandIn({ 'www-authenticate': header })
  if ('refusal' in demand) throw new Error(demand.message)
  const base = chainNamed('base-sepolia')
  const [best] = sortOffers(demand, [base], (_, amount) => amount).payable
  if (!best) throw new Error('the challenge cannot be paid')
  const { offer, token, payTo, chain } = best
  const { requirement, network, expiresAtSeconds = 0 } = offer
  const terms = { protocol: 'mpp', requirement }
  const ours = await signAuthorization(hexToBytes(privateKey), {
    chainId: chain.id,
    token: token.address,
    domain: token.domain,
    from: account.address,
    to: payTo,
    valueAtomic: offer.amountAtomic,
    validAfter: 0,
    validBefore: expiresAtSeconds,
    nonce: storedNonce({ id: '', chain: chain.id, token: token.address, terms }),
  })
  const [name, value] = mppCredential({ requirement, network }, ours)

  expect(name).toBe('authorization')
  expect(readCredential(value)).toEqual(readCredential(official))
  expect(Credential.deserialize(value)).toEqual(Credential.deserialize(official))
})

function readCredential(header: string) {
  const [scheme, token = ''] = header.split(' ')
  const text = Buffer.from(token, 'base64url').toString()
  return { scheme, ...credentialFields.parse(JSON.parse(text)) }
}
