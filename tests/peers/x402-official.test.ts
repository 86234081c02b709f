import { x402Client } from '@x402/core/client'
import * as core from '@x402/core/http'
import { isPaymentPayloadV1, isPaymentPayloadV2, isPaymentRequired } from '@x402/core/schemas'
import type { FacilitatorClient } from '@x402/core/server'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { DEFAULT_ASSETS } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmScheme as ExactEvmServer } from '@x402/evm/exact/server'
import { ExactEvmSchemeV1, NETWORKS } from '@x402/evm/v1'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { verifyTypedData } from 'ethers'
import fc from 'fast-check'
import { Hono } from 'hono'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { decodeText, encodeText } from '../../shared/base64.ts'
import { hexSchema, wordSchema } from '../../shared/chains/hex.ts'
import { type Chain, knownChains } from '../../shared/chains/registry.ts'
import { readChallengeHeader } from '../../shared/x402/challenge.ts'
import { readSettlementHint } from '../../shared/x402/delivery.ts'
import { type PayableOffer, sortOffers } from '../../shared/x402/offers.ts'
import { paymentHeaders, paymentPayload } from '../../shared/x402/payload.ts'
import { authorizationTypes as types } from '../support/eip3009.ts'
import * as sample from '../support/x402.ts'

const { challengeV1, challengeV2, demandIn, payTo, read, usdcOf } = sample
const { requirementV1, requirementV2 } = sample
const account = privateKeyToAccount(generatePrivateKey())
/** Chains with a name in version 1, whose closed list lacks some of our networks. */
const v1Chains = knownChains.filter(({ name }) => NETWORKS.includes(name))
const payloadFields = z.looseObject({
  payload: z.object({
    authorization: z.looseObject({
      validAfter: z.string(),
      validBefore: z.string(),
      nonce: wordSchema,
    }),
    signature: hexSchema,
  }),
})
const requiredFields = z.custom<PaymentRequired>(isPaymentRequired)
const payloadOf = z.custom<PaymentPayload>(isPaymentPayloadV2)

/** Returns what the official client signs for the first offer that it can pay. */
async function officialPayload(required: unknown) {
  const client = new x402Client().setSpendControls(false)
  client.register('eip155:*', new ExactEvmScheme(account))
  for (const { name } of v1Chains) client.registerV1(name, new ExactEvmSchemeV1(account))
  return payloadFields.parse(await client.createPaymentPayload(requiredFields.parse(required)))
}

function bestOffer(value: unknown): PayableOffer {
  const { payable, unpayable } = sortOffers(read(value), knownChains, (_, amount) => amount)
  if (!payable[0]) throw new Error(JSON.stringify(unpayable))
  return payable[0]
}

type Times = { validAfter: number; validBefore: number; nonce: `0x${string}` }

/** Returns our terms and an authorization for them, signed under the domain of our own token table. */
async function ours(value: unknown, { nonce, ...times }: Times) {
  const { offer, chain, token, payTo: to } = bestOffer(value)
  const { name, version: domainVersion } = token.domain
  const domain = {
    name,
    version: domainVersion,
    chainId: chain.id,
    verifyingContract: token.address,
  }
  const message = {
    from: account.address,
    to,
    value: offer.amountAtomic.toString(),
    validAfter: times.validAfter.toString(),
    validBefore: times.validBefore.toString(),
    nonce,
  }
  const signature = await account.signTypedData({
    domain,
    types,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...message,
      value: offer.amountAtomic,
      validAfter: BigInt(times.validAfter),
      validBefore: BigInt(times.validBefore),
    },
  })
  expect(verifyTypedData(domain, types, message, signature)).toBe(account.address)
  return { terms: offer, signed: { ...message, signature } }
}

/** Returns the times that the official client signed, which are those of private.validity_of. */
function timesOf(official: z.output<typeof payloadFields>, version: 1 | 2, seconds: number): Times {
  const { validAfter, validBefore, nonce } = official.payload.authorization
  const times = { validAfter: Number(validAfter), validBefore: Number(validBefore) }
  expect(times.validAfter).toBe(version === 1 ? times.validBefore - seconds - 600 : 0)
  return { ...times, nonce }
}

const terms = fc.record({
  amount: fc.bigInt({ min: 1n, max: 2n ** 60n }).map(String),
  maxTimeoutSeconds: fc.integer({ min: 10, max: 300 }),
  lower: fc.boolean(),
  more: fc.dictionary(fc.stringMatching(/^x[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 3,
  }),
})

function offered({
  lower,
  ...given
}: {
  lower: boolean
  amount: string
  maxTimeoutSeconds: number
}) {
  const { amount, maxTimeoutSeconds } = given
  return { amount, maxTimeoutSeconds, payTo: lower ? payTo.toLowerCase() : payTo }
}

test('for the same nonce and times our version 2 payload is the official one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...knownChains), terms, async (chain, { more, ...given }) => {
      const extra = { ...more, ...usdcOf(chain).domain }
      const requirement = requirementV2({ ...offered(given), extra }, chain.name)
      const value = challengeV2([requirement], { extensions: { 'a-b': { info: more } } })

      const official = await officialPayload(value)
      const { terms, signed } = await ours(value, timesOf(official, 2, given.maxTimeoutSeconds))

      expect(paymentPayload(terms, signed)).toEqual(official)
      expect(isPaymentPayloadV2(paymentPayload(terms, signed))).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('for the same nonce and times our version 1 payload is the official one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...v1Chains), terms, async (chain, { more, ...given }) => {
      const { amount, ...rest } = offered(given)
      const changes = { ...rest, maxAmountRequired: amount, outputSchema: more }
      const value = challengeV1([requirementV1(changes, chain.name)])

      const official = await officialPayload(value)
      const { terms, signed } = await ours(value, timesOf(official, 1, given.maxTimeoutSeconds))

      expect(paymentPayload(terms, signed)).toEqual(official)
      expect(isPaymentPayloadV1(paymentPayload(terms, signed))).toBe(true)
    }),
    { numRuns: 60 },
  )
})

/** Starts a resource server of the official packages, without a facilitator to settle with. */
async function officialServer(chains: readonly Chain[]) {
  const notAsked = () => Promise.reject(new Error('nothing is settled here'))
  const facilitator: FacilitatorClient = {
    verify: notAsked,
    settle: notAsked,
    getSupported: () => {
      const kinds = chains.map(({ caip2 }) => ({ x402Version: 2, scheme: 'exact', network: caip2 }))
      return Promise.resolve({ kinds, extensions: [], signers: {} })
    },
  }
  const server = new x402ResourceServer(facilitator).register('eip155:*', new ExactEvmServer())
  await server.initialize()
  const accepts = chains.map((chain) => {
    return { scheme: 'exact', payTo, price: priceOn(chain), network: chain.caip2 }
  })
  const description = 'Données payées 🌍 “quoted”'
  const app = new Hono().use(paymentMiddleware({ 'GET /paid': { accepts, description } }, server))
  return { server, ask: () => app.request('https://merchant.com/paid') }
}

/** Returns a price in dollars if the official table knows the network, else in the token itself. */
function priceOn(chain: Chain) {
  const { address, domain } = usdcOf(chain)
  const explicit = { amount: '250000', asset: address, extra: domain }
  return Object.hasOwn(DEFAULT_ASSETS, chain.caip2) ? '$0.25' : explicit
}

test('each of our networks can be paid as the official server offers it', async () => {
  const { ask } = await officialServer(knownChains)
  const answer = await ask()

  const demand = demandIn(Object.fromEntries(answer.headers), await answer.json())
  if ('refusal' in demand) throw new Error(demand.message)
  const { payable, unpayable } = sortOffers(demand, knownChains, (_, amount) => amount)

  expect([answer.status, unpayable]).toEqual([402, []])
  expect(payable.map(({ chain }) => chain.caip2)).toEqual(knownChains.map(({ caip2 }) => caip2))
  expect(new Set(payable.map(({ offer }) => offer.amountAtomic))).toEqual(new Set([250_000n]))
  expect(payable[0]?.offer).toMatchObject({
    version: 2,
    resource: { description: 'Données payées 🌍 “quoted”' },
  })
})

test('the official server finds its own offer in our payment', async () => {
  const { server, ask } = await officialServer(knownChains)
  const header = (await ask()).headers.get('payment-required') ?? ''
  const required = core.decodePaymentRequiredHeader(header)
  const stored: unknown = JSON.parse(JSON.stringify(required))
  const { terms, signed } = await ours(stored, {
    validAfter: 0,
    validBefore: 1_795_226_060,
    nonce: `0x${'07'.repeat(32)}`,
  })

  const [[, value] = []] = paymentHeaders(terms, signed)
  const payment = payloadOf.parse(core.decodePaymentSignatureHeader(value ?? ''))

  expect(server.findMatchingRequirements(required.accepts, payment)).toEqual(terms.requirement)
})

test('the official header codec and ours read each other, whatever the script', () => {
  const resource = { url: 'https://merchant.com/ü?q=🌍', description: '日本語 "x" \\ ' }
  const required = requiredFields.parse(challengeV2([requirementV2()], { resource }))

  const header = core.encodePaymentRequiredHeader(required)

  expect(readChallengeHeader(header)).toEqual(read(required))
  expect(encodeText(JSON.stringify(required))).toBe(header)
  expect(core.decodePaymentRequiredHeader(encodeText(JSON.stringify(required)))).toEqual(required)
  expect(JSON.parse(decodeText(header) ?? '')).toEqual(required)
})

test('a settlement is read as the official server writes it', () => {
  const settled = {
    success: true,
    transaction: `0x${'ab'.repeat(32)}`,
    network: 'eip155:84532',
    payer: account.address,
  } as const
  const failed = { ...settled, success: false, transaction: '', errorReason: 'settlement_pending' }
  const claimOf = (answer: Parameters<typeof core.encodePaymentResponseHeader>[0]) =>
    readSettlementHint(
      new Headers({ 'payment-response': core.encodePaymentResponseHeader(answer) }),
    )

  expect(claimOf(settled)).toEqual(settled)
  expect(claimOf(failed)).toMatchObject({ success: false, errorReason: 'settlement_pending' })
})
