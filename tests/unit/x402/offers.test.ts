import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Token, tokenBySymbol } from '../../../shared/chains/registry.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'
import { sortOffers } from '../../../shared/x402/offers.ts'
import * as sample from '../../support/x402.ts'

const { chainNamed, challengeV1, challengeV2, payTo, read, requirementV1, requirementV2 } = sample
const base = chainNamed('base-sepolia')
const arbitrum = chainNamed('eip155:421614')
const priced = (token: Token, amount: bigint) => usdMicrosOf(token, amount, { EUR_USD_RATE: '1.1' })
const unpriced = (token: Token, amount: bigint) => usdMicrosOf(token, amount, {})

function sort(accepts: unknown[], pricing = priced) {
  return sortOffers(read(challengeV2(accepts)), [base, arbitrum], pricing)
}

test('an honest offer is payable to the checksummed payee with the token of our table', () => {
  const requirement = requirementV2({ payTo: payTo.toLowerCase() })

  const { payable, unpayable } = sort([requirement])

  expect(unpayable).toEqual([])
  expect(payable).toMatchObject([
    { chain: base, token: sample.usdcOf(base), payTo, usdMicros: 10_000n },
  ])
  expect(payable[0]?.offer.requirement).toEqual(requirement)
})

test('version 1 is sorted by the same rules', () => {
  const challenge = read(challengeV1([requirementV1(), requirementV1({ scheme: 'upto' })]))

  const { payable, unpayable } = sortOffers(challenge, [base], priced)

  expect([payable.length, unpayable.length]).toEqual([1, 1])
})

describe('each reason stands alone', () => {
  const { domain, address } = sample.usdcOf(base)
  const elsewhere = sample.usdcOf(arbitrum).address
  const table: [string, Record<string, unknown>, RegExp][] = [
    ['another scheme', { scheme: 'deferred' }, /only exact and upto/],
    ['a scheme in another letter case', { scheme: 'EXACT' }, /only exact and upto/],
    ['upto by nobody', { scheme: 'upto' }, /facilitatorAddress/],
    ['upto by a list', { scheme: 'upto', extra: { facilitatorAddress: [payTo] } }, /facilitatorA/],
    ['upto by EIP-3009', upto({ assetTransferMethod: 'eip3009' }), /transfer method/],
    ['another method', { extra: { ...domain, assetTransferMethod: 'erc7710' } }, /transfer method/],
    [
      'a method that is no text',
      { extra: { assetTransferMethod: { toString: 1 } } },
      /transfer method/,
    ],
    ['an unknown flow', { extra: { ...domain, paymentFlow: 'later' } }, /payment flow/],
    ['an escrow', { extra: { ...domain, paymentFlow: 'escrow' } }, /payment flow/],
    ['an empty flow', { extra: { ...domain, paymentFlow: '' } }, /payment flow/],
    ['9 seconds', { maxTimeoutSeconds: 9 }, /less than 10 seconds/],
    ['a network that is not connected', { network: 'eip155:8453' }, /not connected/],
    ['a network that nobody knows', { network: 'eip155:31337' }, /not connected/],
    ['a stranger as token', { asset: payTo }, /no token/],
    ['a token of another network', { asset: elsewhere }, /no token/],
    ['a symbol instead of an address', { asset: 'USDC' }, /no token/],
    ['another name', { extra: { name: 'USD Coin', version: '2' } }, /EIP-712 domain/],
    ['another version', { extra: { name: 'USDC', version: '1' } }, /EIP-712 domain/],
    ['a version that is a number', { extra: { name: 'USDC', version: 2 } }, /EIP-712 domain/],
    ['a name that is null', { extra: { name: null, version: '2' } }, /EIP-712 domain/],
    ['other decimals', { extra: { ...domain, decimals: 18 } }, /has 6 decimals/],
    ['decimals as text', { extra: { ...domain, decimals: '6' } }, /has 6 decimals/],
    ['a payee that is a name', { payTo: 'vitalik.eth' }, /valid address/],
    ['a payee one digit short', { payTo: payTo.slice(0, -1) }, /valid address/],
    ['a payee with a wrong checksum', { payTo: payTo.replace('C', 'c') }, /valid address/],
    ['nobody as payee', { payTo: `0x${'0'.repeat(40)}` }, /would be lost/],
    ['the token as payee', { payTo: address }, /would be lost/],
    ['x402’s own proxy', { payTo: '0x402085c248EeA27D92E8b30b2C58ed07f9E20001' }, /would be lost/],
    ['the proxy of upto', { payTo: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002' }, /would be lost/],
    ['the token of another network as payee', { payTo: elsewhere }, /would be lost/],
    ['nothing', { amount: '0' }, /zero/],
    ['more than any limit', { amount: '9'.repeat(78) }, /beyond every limit/],
  ]

  test.each(table)('%s cannot be paid', (_, changes, reason) => {
    const { payable, unpayable } = sort([requirementV2(changes)])

    expect(payable).toEqual([])
    expect(unpayable).toHaveLength(1)
    expect(unpayable[0]?.reason).toMatch(reason)
    expect(unpayable[0]?.reason).toMatch(/^\w.*\.$/)
  })
})

function upto(more: Record<string, unknown> = {}) {
  return { scheme: 'upto', extra: { facilitatorAddress: payTo, ...more } }
}

test('Permit2 is payable in version 2 alone, after what a freeze can cancel', () => {
  const exact = { extra: { assetTransferMethod: 'permit2' } }
  const permits = [requirementV2(upto()), requirementV2(exact)]

  const { payable } = sort([...permits, requirementV2()])
  const { unpayable } = sortOffers(read(challengeV1([requirementV1(exact)])), [base], priced)

  expect(payable.map(({ method }) => method)).toEqual(['eip3009', 'permit2', 'permit2'])
  expect(unpayable).toMatchObject([{ reason: 'Permit2 is not part of x402 version 1.' }])
})

test.each([
  ['no extra at all', undefined],
  ['null', null],
  ['an empty extra', {}],
  ['the default method by name', { assetTransferMethod: 'eip3009', paymentFlow: 'authorization' }],
  ['our decimals', { decimals: 6 }],
  ['words that change nothing', { name: 'USDC', version: '2', note: 'sign under chain 1' }],
])('%s leaves an offer payable', (_, extra) => {
  expect(sort([requirementV2({ extra })]).payable).toHaveLength(1)
})

test("a stranger's value in a reason is cut short", () => {
  const { unpayable } = sort([requirementV2({ extra: { paymentFlow: 'x'.repeat(9_000) } })])

  expect(unpayable[0]?.reason.length).toBeLessThan(120)
})

test('a token without a rate is not paid with', () => {
  const eurc = tokenBySymbol(base, 'EURC')
  const requirement = requirementV2({ asset: eurc?.address, extra: { ...eurc?.domain } })

  expect(sort([requirement], unpriced)).toMatchObject({
    payable: [],
    unpayable: [{ reason: /rate/ }],
  })
  expect(sort([requirement]).payable).toMatchObject([{ usdMicros: 11_000n }])
})

test('the cheapest comes first, and among equals the first that the merchant named', () => {
  const accepts = [
    requirementV2({ amount: '30' }),
    requirementV2({ amount: '20', maxTimeoutSeconds: 60 }),
    requirementV2({ scheme: 'upto', amount: '1' }),
    requirementV2({ amount: '20', maxTimeoutSeconds: 61 }, 'eip155:421614'),
  ]

  const { payable, unpayable } = sort(accepts)

  expect(payable.map(({ offer }) => offer.maxTimeoutSeconds)).toEqual([60, 61, 120])
  expect(unpayable).toHaveLength(1)
})

test('nothing payable means nothing, never the first offer', () => {
  const accepts = [requirementV2({ network: 'solana' }), requirementV2({ scheme: 'upto' })]

  expect(sort(accepts)).toMatchObject({ payable: [], unpayable: [{}, {}] })
})

test('every offer is answered once, and the order is by price', () => {
  const change = fc.constantFrom<Record<string, unknown>>(
    {},
    { scheme: 'upto' },
    { network: 'eip155:1' },
    { asset: payTo },
    { maxTimeoutSeconds: 1 },
  )
  const entry = fc.tuple(fc.integer({ min: 1, max: 9 }), change)
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 32 }), (entries) => {
      const accepts = entries.map(([amount, changes], index) =>
        requirementV2({ amount: `${amount}`, extra: { index }, ...changes }),
      )
      const slow = entries
        .map(([amount, changes], index) => ({
          amount,
          index,
          honest: Object.keys(changes).length === 0,
        }))
        .filter(({ honest }) => honest)
        .sort((a, b) => a.amount - b.amount || a.index - b.index)

      const { payable, unpayable } = sort(accepts)

      expect(payable.map(({ offer }) => offer.extra['index'])).toEqual(
        slow.map(({ index }) => index),
      )
      expect(unpayable).toHaveLength(entries.length - slow.length)
    }),
  )
})
