import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backtestMandate, type PastPayment } from '../../shared/policy/rehearsal.ts'
import { casesOf } from '../support/cases.ts'
import { hosts, requestStories, termsStories } from '../support/mandate-stories.ts'
import { coverTwin, hostTwin } from '../support/mandate-twin.ts'
import { mandate, noon, purchase, usd } from '../support/policy.ts'

const hour = 3_600_000
const day = 24 * hour
const hoursAgo = fc.constantFrom(0, 1, 12, 23, 24, 25, 36, 48, 90 * 24 - 1, 90 * 24, 90 * 24 + 1)
const states = [
  'settled',
  'settled',
  'unknown',
  'authorized',
  'awaiting_confirmation',
  'expired',
  'declined',
  'released',
] as const

const pastStories: fc.Arbitrary<PastPayment> = fc
  .record({
    request: requestStories,
    hours: hoursAgo,
    milliseconds: fc.constantFrom(-1, 0, 1),
    host: fc.oneof(fc.constant('shop.example.com'), fc.constantFrom(...hosts)),
    resource: fc.constantFrom(null, 'a', 'b'),
    state: fc.constantFrom(...states),
  })
  .map(({ request, hours, milliseconds, host, resource, state }) => ({
    kind: request.kind,
    amountUsdMicros: request.amountUsdMicros,
    chain: request.chain,
    token: request.token,
    payTo: request.payTo,
    host: request.kind === 'transfer' ? null : host,
    resource,
    state,
    at: new Date(noon.getTime() - hours * hour + milliseconds),
  }))

type Terms = Omit<typeof mandate, 'expiresAt'>
type Said = { payment: PastPayment; verdict: string; reasons: string }

/** Slow twin, which looks at all earlier payments again for each payment. */
function rehearseTwin(terms: Terms, past: PastPayment[], cap: bigint): Said[] {
  const counted = past
    .filter(({ at }) => at.getTime() <= noon.getTime() && at.getTime() > noon.getTime() - 90 * day)
    .filter(({ state }) => state !== 'released')
    .toSorted((a, b) => a.at.getTime() - b.at.getTime())
  const said: Said[] = []
  for (const payment of counted) {
    const { at, amountUsdMicros, payTo, resource } = payment
    const isOurs = hostTwin(terms.merchantDomain, terms.includeSubdomains, payment.host)
    const before = counted.slice(0, counted.indexOf(payment))
    const verdictOn = (one: PastPayment) => said.find((other) => other.payment === one)?.verdict
    const didMove = (one: PastPayment) => {
      const isLive = ['settled', 'unknown', 'authorized'].includes(one.state)
      const verdict = verdictOn(one)
      return verdict === 'allowed' || (isLive && verdict !== 'refused')
    }
    const moved = before
      .filter((one) => didMove(one) && one.at.getTime() > at.getTime() - day)
      .reduce((sum, one) => sum + one.amountUsdMicros, 0n)
    if (!isOurs && !terms.payTo?.includes(payTo)) continue
    if (moved + amountUsdMicros > cap) {
      said.push({ payment, verdict: 'refused', reasons: '' })
      continue
    }
    const reasons = coverTwin({
      state: 'active',
      payer: 'asker',
      terms: { ...terms, expiresAt: new Date(at.getTime() + 1) },
      carried: before
        .filter((one) => verdictOn(one) === 'allowed')
        .map((one) => ({ at: one.at.getTime(), usd: one.amountUsdMicros })),
      bought: before
        .filter((one) => resource !== null && one.resource === resource && one.state === 'settled')
        .slice(-20)
        .map((one) => ({ ...one, usd: one.amountUsdMicros })),
      request: { ...purchase, ...payment },
      now: at,
    })
    const verdict = reasons.length === 0 ? 'allowed' : 'asked'
    said.push({ payment, verdict, reasons: reasons.toSorted().join() })
  }
  return said
}

test('does to the past what the slow rehearsal does, sums included', () => {
  const cap = fc.bigInt({ min: 1n, max: 30n })
  let allowed = 0
  fc.assert(
    fc.property(
      termsStories,
      fc.array(pastStories, { maxLength: 14 }),
      cap,
      (terms, past, most) => {
        const rehearsal = backtestMandate(terms, past, most, noon)
        const wanted = rehearseTwin({ ...mandate, ...terms }, past, most)
        const told = rehearsal.payments.map(({ payment, verdict, reasons }) => ({
          payment,
          verdict,
          reasons: reasons
            .map(({ code }) => code)
            .toSorted()
            .join(),
        }))
        expect(told).toEqual(wanted)
        for (const verdict of ['allowed', 'asked', 'refused'] as const) {
          const some = wanted.filter((one) => one.verdict === verdict)
          const usdMicros = some.reduce((sum, one) => sum + one.payment.amountUsdMicros, 0n)
          expect(rehearsal[verdict]).toEqual({ payments: some.length, usdMicros })
        }
        allowed += rehearsal.allowed.payments
      },
    ),
    { numRuns: casesOf(30_000) },
  )
  expect(allowed).toBeGreaterThan(casesOf(4_000))
}, 60_000)

const bought = (hours: number, dollars: number, given: Partial<PastPayment> = {}): PastPayment => ({
  ...purchase,
  amountUsdMicros: usd(dollars),
  resource: 'GET https://shop.example.com/a',
  state: 'settled',
  at: new Date(noon.getTime() - hours * hour),
  ...given,
})

test('a price that jumps within the caps is shown as paid', () => {
  const past = [bought(3, 1), bought(2, 1), bought(1, 3)]
  expect(backtestMandate(mandate, past, usd(1000), noon)).toMatchObject({
    allowed: { payments: 3, usdMicros: usd(5) },
    asked: { payments: 0 },
  })
})

test('what the owner declined is shown as paid where the mandate would have paid it', () => {
  const past = [bought(2, 4, { state: 'declined' }), bought(1, 4, { state: 'released' })]
  expect(backtestMandate(mandate, past, usd(1000), noon).allowed.payments).toBe(1)
})

test('other spending of the account fills its daily cap', () => {
  const elsewhere = bought(2, 997, { host: 'other.example.org', resource: null })
  const past = [elsewhere, bought(1, 4)]
  expect(backtestMandate(mandate, past, usd(1000), noon)).toMatchObject({
    allowed: { payments: 0 },
    refused: { payments: 1, usdMicros: usd(4) },
  })
})

test('ninety busy days are rehearsed in a moment', () => {
  const past = Array.from({ length: 20_000 }, (_, at) => bought(at / 10, 1))
  const lasting = { ...mandate, maxTotalUsdMicros: null, maxPayments: null }
  expect(backtestMandate(lasting, past, usd(1000), noon).allowed.payments).toBe(20 * 84)
}, 5_000)
