import type { PaymentPayload } from '@x402/core/types'
import {
  declarePaymentIdentifierExtension,
  extractAndValidatePaymentIdentifier,
} from '@x402/extensions/payment-identifier'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { readSettlementHint } from '../../../shared/x402/delivery.ts'
import type { PayloadTerms } from '../../../shared/x402/payload.ts'
import * as payload from '../../../shared/x402/payload.ts'
import { validSecondsOf } from '../../../shared/x402/validity.ts'
import { challengeV2, headerOf, payTo, requirementV1, requirementV2 } from '../../support/x402.ts'

const { paymentHeaders } = payload
const { signature, ...authorization } = {
  from: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  to: payTo,
  value: '10000',
  validAfter: '0',
  validBefore: '1795226346',
  nonce: `0x${'0a'.repeat(32)}`,
  signature: `0x${'0b'.repeat(65)}`,
}
const signed = { ...authorization, signature }
const twoTerms: PayloadTerms = {
  protocol: 'x402',
  version: 2,
  scheme: 'exact',
  network: 'eip155:84532',
  requirement: requirementV2({ extra: { name: 'USDC', version: '2', more: ['ä', null, 0.1] } }),
  resource: challengeV2()['resource'],
  extensions: { bazaar: { info: { required: false }, schema: {} } },
}

/** Returns the header of a payment, and asserts that it is the only one. */
function paymentHeader(...given: Parameters<typeof paymentHeaders>) {
  const [header = ['', ''] as const, ...more] = paymentHeaders(...given)
  expect(more).toEqual([])
  return header
}

function decoded(header: string): unknown {
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
}

test('version 2 echoes the requirement, the resource and the extensions as they came', () => {
  const [name, value] = paymentHeader(twoTerms, signed)

  expect(name).toBe('payment-signature')
  expect(decoded(value)).toEqual({
    x402Version: 2,
    payload: { authorization, signature },
    accepted: twoTerms.requirement,
    resource: twoTerms.resource,
    extensions: twoTerms.extensions,
  })
})

test.each([true, false])(
  'a server that takes payment identifiers (required: %s) is given the same one for the same payment',
  (required) => {
    const declared = declarePaymentIdentifierExtension(required)
    const extensions = { bazaar: {}, 'payment-identifier': declared }

    const [, value] = paymentHeader({ ...twoTerms, extensions }, signed)
    const [, again] = paymentHeader({ ...twoTerms, extensions }, signed)

    const sent = payloadWithExtensions.parse(decoded(value))
    const { id, validation } = extractAndValidatePaymentIdentifier(
      z.custom<PaymentPayload>().parse(sent),
    )
    expect([id, validation.valid]).toEqual([`pay_${'0a'.repeat(32)}`, true])
    expect(again).toBe(value)
    expect(sent.extensions).toMatchObject(extensions)
  },
)

test.each([[], 'text', { info: [] }, { info: { required: 'yes' } }])(
  'a payment identifier in another form (%j) is echoed as it came',
  (declared) => {
    const extensions = { 'payment-identifier': declared }

    const [, value] = paymentHeader({ ...twoTerms, extensions }, signed)

    expect(decoded(value)).toMatchObject({ extensions })
  },
)

const payloadWithExtensions = z.looseObject({ extensions: z.record(z.string(), z.unknown()) })

test('what a version 2 challenge left out stays out', () => {
  const { resource: _, extensions: __, ...bare } = twoTerms

  const [, value] = paymentHeader(bare, signed)

  expect(Object.keys(decoded(value) ?? {}).toSorted()).toEqual([
    'accepted',
    'payload',
    'x402Version',
  ])
})

test('version 1 names scheme and network as offered and echoes nothing else', () => {
  const terms: PayloadTerms = {
    ...twoTerms,
    version: 1,
    network: 'base-sepolia',
    requirement: requirementV1(),
  }

  const [name, value] = paymentHeader(terms, signed)

  expect(name).toBe('x-payment')
  expect(decoded(value)).toEqual({
    x402Version: 1,
    scheme: 'exact',
    network: 'base-sepolia',
    payload: { authorization, signature },
  })
})

test('a requirement of version 1 in an envelope of version 2 is paid in the words of both', () => {
  const { amount: _, ...requirement } = requirementV2({ maxAmountRequired: '10000' })

  const headers = paymentHeaders({ ...twoTerms, requirement }, signed)

  expect(headers.map(([name]) => name)).toEqual(['payment-signature', 'x-payment'])
  expect(new Set(headers.map(([, value]) => value)).size).toBe(1)
  expect(decoded(headers[0]?.[1] ?? '')).toMatchObject({
    x402Version: 2,
    scheme: 'exact',
    network: 'eip155:84532',
    payload: { authorization, signature },
    accepted: requirement,
  })
})

test('a header is printable ASCII whatever is echoed', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (resource) => {
      const [, value] = paymentHeader({ ...twoTerms, resource }, signed)
      expect(value).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
      expect(decoded(value)).toMatchObject({ x402Version: 2 })
    }),
  )
})

describe('validity', () => {
  test.each([
    [10, 10],
    [299, 299],
    [300, 300],
    [301, 300],
    [315_360_000, 300],
    [Number.MAX_SAFE_INTEGER, 300],
  ])('of %i seconds offered %i are taken', (offered, taken) => {
    expect(validSecondsOf(offered)).toBe(taken)
  })
})

describe('a claim of settlement', () => {
  const transaction = `0x${'ab'.repeat(32)}`
  const claimIn = (value: unknown, name = 'payment-response') =>
    readSettlementHint(new Headers({ [name]: headerOf(value) }))

  test('is read from either header, the newer first', () => {
    const older = { success: false, errorReason: 'old' }
    const both = new Headers({
      'X-PAYMENT-RESPONSE': headerOf(older),
      'PAYMENT-RESPONSE': headerOf({ success: true, transaction, network: 'eip155:84532' }),
    })

    expect(readSettlementHint(both)).toMatchObject({
      success: true,
      transaction,
      network: 'eip155:84532',
    })
    expect(claimIn(older, 'x-payment-response')).toMatchObject(older)
  })

  test('is read from a receipt of MPP, where neither stands', () => {
    const receipt = { status: 'success', method: 'evm', reference: transaction }

    expect(claimIn(receipt, 'payment-receipt')).toEqual({ success: true, transaction })
    expect(claimIn({ ...receipt, reference: 'pi_1' }, 'payment-receipt')).toEqual({
      success: true,
      transaction: undefined,
    })
    expect(claimIn({ reference: transaction }, 'payment-receipt')).toBeUndefined()
  })

  test('survives parts that make no sense, without believing them', () => {
    expect(claimIn({ success: true, transaction: '' })?.transaction).toBeUndefined()
    expect(claimIn({ success: true, transaction: 'https://evil.com' })?.transaction).toBeUndefined()
    expect(claimIn({ success: true, transaction: 7 })?.transaction).toBeUndefined()
    expect(claimIn({ success: false, errorReason: { a: 1 } })).toMatchObject({ success: false })
  })

  test.each([null, [], 'settled', 7, { success: 'yes' }])('%j is none', (value) => {
    expect(claimIn(value)).toBeUndefined()
  })

  test('is none without a header, in broken base64 and beyond 16 KB', () => {
    expect(readSettlementHint(new Headers())).toBeUndefined()
    expect(readSettlementHint(new Headers({ 'payment-response': '%%%' }))).toBeUndefined()
    expect(claimIn({ success: true, padding: 'x'.repeat(16_384) })).toBeUndefined()
  })

  test('is read or left, whatever a server writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.stringMatching(/^[!-~]*$/), (value, noise) => {
        claimIn(value)
        expect(readSettlementHint(new Headers({ 'payment-response': noise }))).toBeUndefined()
      }),
    )
  })
})
