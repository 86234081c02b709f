/** From a 402 in several protocols, the reader finds what can be paid and what can only be shown. */
import { createHash } from 'node:crypto'
import { Challenge } from 'mppx'
import { describe, expect, test } from 'vitest'
import type { FrozenRequest } from '../../../shared/x402/challenge.ts'
import { sortOffers } from '../../../shared/x402/offers.ts'
import { namedWith } from '../../support/matching.ts'
import * as sample from '../../support/x402.ts'

const { bareRequest, challengeV2, chainNamed, demandIn, headerOf, payTo, readAt } = sample
const base = chainNamed('base-sepolia')
const usdc = sample.usdcOf(base)

type Fields = Record<string, unknown>

function charge(details: Fields = {}, changes: Fields = {}): Fields {
  return {
    amount: '10000',
    currency: usdc.address,
    recipient: payTo,
    methodDetails: {
      chainId: base.id,
      credentialTypes: ['authorization'],
      decimals: 6,
      ...details,
    },
    ...changes,
  }
}

function mpp(request: Fields = charge(), changes: Partial<Challenge.Challenge> = {}): string {
  const expires = new Date(readAt.getTime() + 240_000).toISOString()
  const named = { id: 'an id', realm: 'merchant.com', method: 'evm', intent: 'charge' }
  return Challenge.serialize(Challenge.from({ ...named, request, expires, ...changes }))
}

function sort(headers: Record<string, string>, body?: unknown, request?: FrozenRequest) {
  const demand = demandIn(headers, body, request)
  if ('refusal' in demand) throw new Error(demand.message)
  return sortOffers(demand, [base], (_, amount) => amount)
}

const inHeader = (challenge: string) => ({ 'www-authenticate': challenge })

test('a charge of MPP is payable to the payee with the token of our table', () => {
  const { payable, unpayable } = sort(inHeader(mpp()))

  expect(unpayable).toEqual([])
  expect(payable).toMatchObject([
    {
      chain: base,
      token: usdc,
      payTo,
      usdMicros: 10_000n,
      offer: {
        protocol: 'mpp',
        maxTimeoutSeconds: 240,
        expiresAtSeconds: readAt.getTime() / 1000 + 240,
        requirement: { id: 'an id', realm: 'merchant.com' },
      },
    },
  ])
})

describe('each reason stands alone', () => {
  const digest = `sha-256=${createHash('sha256').update('other').digest('base64')}`
  const soon = new Date(readAt.getTime() + 9_000).toISOString()
  const table: [string, string, RegExp][] = [
    ['no credential types', mpp(charge({ credentialTypes: undefined })), /not among/],
    ['other credential types', mpp(charge({ credentialTypes: ['permit2', 'hash'] })), /not among/],
    ['a split', mpp(charge({ splits: [{ amount: '1', recipient: payTo }] })), /split/],
    ['a session', mpp(charge(), { intent: 'session' }), /only the method evm/],
    ['another method', mpp({ amount: '1' }, { method: 'tempo' }), /only the method evm/],
    ['another chain', mpp(charge({ chainId: 1 })), /not connected/],
    ['another token', mpp(charge({}, { currency: payTo })), /no token/],
    ['other decimals', mpp(charge({ decimals: 18 })), /has 6 decimals/],
    ['a payee that loses money', mpp(charge({}, { recipient: usdc.address })), /lost/],
    ['an amount with a point', mpp(charge({}, { amount: '0.01' })), /cannot be read/],
    ['a digest of another body', mpp(charge(), { digest }), /digest/],
    ['nine seconds left', mpp(charge(), { expires: soon }), /less than 10 seconds/],
    ['a header of its own', mpp(charge(), { header: 'Cookie' }), /header that the challenge names/],
    ['an id like our own nonces', mpp(charge(), { id: 'aoa.payment.v1|' }), /reserved/],
    [
      'a request that is no JSON',
      'Payment id="a", realm="b", method="evm", intent="charge", request="!"',
      /cannot be read/,
    ],
    ['half a surrogate pair', mpp(charge(), { opaque: '\ud83c' }), /cannot be read/],
    ['NUL', mpp(charge(), { realm: 'NUL' }).replace('NUL', '\\u0000'), /cannot be read/],
    ['more than a header holds', mpp(charge(), { opaque: 'x'.repeat(24_576) }), /cannot be read/],
    ['no id', 'Payment realm="b", method="evm", intent="charge", request="e30"', /cannot be read/],
  ]

  test.each(table)('%s cannot be paid', (_, challenge, reason) => {
    const { payable, unpayable } = sort(inHeader(challenge))

    expect(payable).toEqual([])
    expect(unpayable).toHaveLength(1)
    expect(unpayable[0]?.reason).toMatch(reason)
  })
})

test.each(['sha-256=', 'sha-256=:'])(
  'a challenge with the digest %s of the body is payable',
  (form) => {
    const base64 = createHash('sha256').update('one').digest('base64')
    const digest = form.endsWith(':') ? `${form}${base64}:` : `${form}${base64}`
    const request = { ...bareRequest, method: 'POST' as const, body_base64: btoa('one') }

    expect(sort(inHeader(mpp(charge(), { digest })), undefined, request).payable).toHaveLength(1)
    expect(sort(inHeader(mpp(charge(), { digest }))).payable).toEqual([])
  },
)

test('a credential never replaces a header that the agent gave', () => {
  const request: FrozenRequest = { ...bareRequest, headers: [['Authorization', 'Bearer x']] }
  const header = 'Payment-Authorization'

  expect(sort(inHeader(mpp()), undefined, request).payable).toEqual([])
  expect(sort(inHeader(mpp(charge(), { header })), undefined, request).payable).toHaveLength(1)
})

describe('of x402 and MPP in one answer', () => {
  const scope = { mppx: { info: { method: 'GET', _mppx_scope: 'GET /data' }, schema: {} } }
  const table: [string, string, Fields | undefined, string[]][] = [
    ['the cheaper is paid, be it x402', '9999', undefined, ['x402 1', 'x402 9999', 'mpp 10000']],
    ['the cheaper is paid, be it MPP', '10001', undefined, ['x402 1', 'mpp 10000', 'x402 10001']],
    ['x402 is paid at one price', '10000', undefined, ['x402 1', 'x402 10000', 'mpp 10000']],
    ['MPP is paid where a route is named', '10000', scope, ['mpp 10000', 'x402 1', 'x402 10000']],
  ]

  test.each(table)(
    '%s, and what moves before the answer is no exception',
    (_, amount, extensions, order) => {
      const upfront = sample.requirementV2({ amount: '1', extra: { paymentFlow: 'upfront' } })
      const offers = [upfront, sample.requirementV2({ amount })]
      const x402 = headerOf(challengeV2(offers, { extensions }))

      const { payable } = sort({ ...inHeader(mpp()), 'payment-required': x402 })

      const paid = payable.map(({ offer }) => `${offer.protocol} ${offer.amountAtomic}`)
      expect(paid).toEqual(order)
    },
  )

  test('at one price what moves before the answer comes last', () => {
    const upfront = sample.requirementV2({ amount: '7', extra: { paymentFlow: 'upfront' } })
    const x402 = headerOf(challengeV2([upfront, sample.requirementV2({ amount: '7' })]))

    const { payable } = sort({ 'payment-required': x402 })

    expect(payable.map(({ offer }) => offer.extra['paymentFlow'])).toEqual([undefined, 'upfront'])
  })

  test.each([{ method: 'GET' }, { method: 'GET', digest: undefined }])(
    'no route is named by %j',
    (info) => {
      const extensions = { mppx: { info, schema: {} } }
      const x402 = headerOf(challengeV2([sample.requirementV2()], { extensions }))

      const { payable } = sort({ ...inHeader(mpp()), 'payment-required': x402 })

      expect(payable.map(({ offer }) => offer.protocol)).toEqual(['x402', 'mpp'])
    },
  )
})

test.each(['', ' '])(
  'an empty header %j beside a body of version 1 hides nothing of it',
  (header) => {
    const { payable } = sort({ 'payment-required': header }, sample.challengeV1())

    expect(payable).toMatchObject([{ offer: { version: 1, protocol: 'x402' } }])
  },
)

test('a requirement of version 1 in an envelope of version 2 is payable', () => {
  const { amount, ...fields } = sample.requirementV2()
  const more = { resource: 'https://merchant.com/data', description: '', mimeType: '' }
  const signature = (primaryType: string) => ({ extra: { ...usdc.domain, primaryType } })
  const mixed = { ...fields, ...more, maxAmountRequired: amount }
  const accepts = ['TransferWithAuthorization', 'Permit'].map((type) => ({
    ...mixed,
    ...signature(type),
  }))

  const { payable, unpayable } = sort({}, challengeV2(accepts, { resource: undefined }))

  expect(payable).toMatchObject([{ usdMicros: 10_000n, offer: { version: 2 } }])
  expect(unpayable).toMatchObject([
    { reason: 'Signatures of this primary type are not supported.' },
  ])
})

test('x402 that cannot be read is passed over only for another way to pay', () => {
  expect(sort({ ...inHeader(mpp()), 'payment-required': '%%%' }).payable).toHaveLength(1)
  expect(demandIn({ ...inHeader('Basic realm="a"'), 'payment-required': '%%%' })).toMatchObject({
    refusal: 'invalid_challenge',
  })
})

describe('what is shown and not paid', () => {
  test.each([
    ['lnbc2500u1pvjluez', '0.0025'],
    ['LNBC20M1PVJLUEZ', '0.02'],
    ['lntb1n1pvjluez', '0.000000001'],
    ['lnbc15p1pvjluez', '0.000000000015'],
    ['lnbc31pvjluez', '3'],
    ['lnbc1pvjluez', 'any'],
    ['not an invoice', 'any'],
  ])('L402 with the invoice %s, for %s bitcoin, without its macaroon', (invoice, amount_btc) => {
    const { unpayable } = sort(inHeader(`L402 macaroon="secret", invoice="${invoice}"`))

    expect(unpayable).toMatchObject([
      { protocol: 'l402', untrusted: namedWith({ amount_btc, invoice }) },
    ])
    expect(JSON.stringify(unpayable)).not.toContain('secret')
  })

  test('pay-per-crawl with its price', () => {
    expect(sort({ 'crawler-price': 'USD 0.05' })).toMatchObject({
      payable: [],
      unpayable: [{ protocol: 'pay-per-crawl', untrusted: namedWith({ price: 'USD 0.05' }) }],
    })
  })

  test('other methods of MPP with their request', () => {
    const { unpayable } = sort(
      inHeader(mpp({ amount: '500', currency: 'usd' }, { method: 'stripe' })),
    )

    expect(unpayable).toMatchObject([
      {
        protocol: 'mpp',
        untrusted: namedWith({
          method: 'stripe',
          intent: 'charge',
          amount: '500',
          currency: 'usd',
        }),
      },
    ])
  })

  const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
  test.each<[string, Fields, Record<string, string>?]>([
    ['solana', { network, asset: 'EPjFWdd5', payTo: '9xQeWvG8' }],
    ['stellar', { network: 'stellar:pubnet' }],
    ['batch-settlement', { scheme: 'batch-settlement' }, { withdrawDelay: '900' }],
    ['auth-capture', { scheme: 'auth-capture' }, { operator: payTo }],
    ['erc7710', {}, { assetTransferMethod: 'erc7710' }],
    ['escrow', {}, { paymentFlow: 'escrow' }],
  ])('x402 by %s with all that it asks for', (_, changes, extra = {}) => {
    const requirement = sample.requirementV2({ ...changes, extra })

    const { payable, unpayable } = sort({}, challengeV2([requirement]))

    const { amount } = requirement
    const asked = {
      scheme: String(requirement.scheme),
      pay_to: String(requirement.payTo),
      ...extra,
    }
    expect(payable).toEqual([])
    expect(unpayable).toMatchObject([{ protocol: 'x402', amount, untrusted: namedWith(asked) }])
  })

  test('texts of strangers are short and show all that they are', () => {
    const hidden = 'to \u202eeciv\u200bil\u0007A\ud83c\n'
    const extra = { [hidden]: hidden, long: 'x'.repeat(9_000), deep: { hidden } }
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`z${at}`, at]))
    const { unpayable } = sort(inHeader(mpp({ ...extra, ...many }, { method: 'card' })))

    const words = unpayable.flatMap(({ untrusted }) => untrusted)
    const texts = words.flatMap(({ name, value }) => [name, value])
    expect(words.length).toBeLessThanOrEqual(4 + 16)
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(256)
    expect(texts.filter((text) => /[\p{C}\p{Zl}\p{Zp}]/u.test(text))).toEqual([])
    expect(texts).toContain('to \ufffdeciv\ufffdil\ufffdA\ufffd\ufffd')
  })
})
