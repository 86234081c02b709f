/** Random mandates and payments in which the edges of every rule are common. */
import fc from 'fast-check'
import type { CoverRequest, MandateTerms } from '../../shared/policy/mandate.ts'
import type { Told } from './mandate-twin.ts'
import { noon } from './policy.ts'

const hour = 3_600_000
export const payees = ['0xA1', '0xa1', '0xB2'] as const
export const tokens = ['0xC3', '0xD4'] as const
export const chains = [1, 8453] as const

/** Domains as they are stored, and some that no mandate has. */
export const domains = [
  'example.com',
  'shop.example.com',
  'xn--bcher-kva.example',
  'localhost',
  'localhost:4021',
  '127.0.0.1',
  'com',
  '0.0.1',
] as const

/** Hosts that equal a domain, are below one, or only look like one. */
export const hosts = [
  ...domains,
  null,
  'a.shop.example.com',
  'a.b.example.com',
  'notexample.com',
  'shop-example.com',
  'example.com.evil.org',
  'evil.org',
  'shop.example.com.',
  '.example.com',
  'a..example.com',
  'shop.example.com:443',
  'shop.example.com:8443',
  'user@shop.example.com',
  'SHOP.example.com',
  'sh\u00f6p.example.com',
  'sh%6fp.example.com',
  '-a.example.com',
  'a-.example.com',
  `${'a'.repeat(63)}.example.com`,
  `${'a'.repeat(64)}.example.com`,
  `${'a.'.repeat(121)}example.com`,
  `${'a.'.repeat(122)}example.com`,
  'xn--bcher-kva.example',
  'a.localhost',
  'localhost:4022',
  'localhost:04021',
  'localhost:',
  '127.0.0.1:4021',
  '127.0.0.2',
  'a.127.0.0.1',
  '10.0.0.1',
  '[::1]',
  '',
] as const

const few = fc.bigInt({ min: 1n, max: 8n })
const cap = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 2 })
/** Draws the first value most of the time, otherwise one of all. */
const often = <T>(usual: T, all: readonly T[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...all) },
  )
const bit = fc.boolean()
/** Draws true most of the time, so that one failing rule, or none, is common. */
const mostly = fc.nat({ max: 7 }).map((one) => one > 0)

export const termsStories: fc.Arbitrary<MandateTerms> = fc.record({
  merchantDomain: often<string>('shop.example.com', domains),
  includeSubdomains: bit,
  maxPaymentUsdMicros: fc.bigInt({ min: 3n, max: 8n }),
  maxDayUsdMicros: cap(fc.bigInt({ min: 1n, max: 20n })),
  maxTotalUsdMicros: cap(fc.bigInt({ min: 1n, max: 30n })),
  maxPayments: cap(fc.integer({ min: 1, max: 5 })),
  chains: cap(fc.subarray([...chains])),
  tokens: cap(fc.subarray([...tokens])),
  payTo: cap(fc.subarray([...payees])),
  expiresAt: often(hour, [-1, 0, 1]).map((after) => new Date(noon.getTime() + after)),
})

export const requestStories: fc.Arbitrary<Omit<CoverRequest, 'history'>> = fc.record({
  kind: fc.constantFrom('x402', 'x402', 'x402', 'transfer'),
  amountUsdMicros: few,
  host: often<string | null>('shop.example.com', hosts),
  chain: fc.constantFrom(...chains),
  token: fc.constantFrom(...tokens),
  payTo: fc.constantFrom(...payees),
  verifiedWithMerchant: mostly,
  otherResource: mostly.map((one) => !one),
  deviceKnown: mostly,
  similarRecipient: mostly.map((one) => (one ? null : '0xEE')),
})

/** Times around the ends of the window to the millisecond, and some clearly inside and outside. */
const ago = fc.constantFrom(0, 1, hour, 24 * hour - 1, 24 * hour, 24 * hour + 1, 72 * hour)

export const stories: fc.Arbitrary<Told> = fc.record({
  state: often<Told['state']>('active', ['pending_approval', 'suspended', 'declined', 'revoked']),
  payer: often<Told['payer']>('asker', ['other_device', 'other_key']),
  terms: termsStories,
  carried: fc.array(fc.record({ at: ago.map((before) => noon.getTime() - before), usd: few }), {
    maxLength: 4,
  }),
  bought: fc.array(
    fc.record({
      payTo: fc.constantFrom(...payees),
      chain: fc.constantFrom(...chains),
      token: fc.constantFrom(...tokens),
      usd: few,
    }),
    { maxLength: 3 },
  ),
  request: requestStories,
  now: fc.constant(noon),
})
