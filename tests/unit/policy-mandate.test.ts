import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bestCover,
  concerns,
  coverOf,
  hostMatches,
  type Mandate,
  payableHostOf,
  uncoveredBy,
} from '../../shared/policy/mandate.ts'
import { historyReasons } from '../../shared/policy/memory.ts'
import { casesOf } from '../support/cases.ts'
import { domains, hosts, requestStories, stories } from '../support/mandate-stories.ts'
import {
  coverTwin,
  historyFrom,
  hostTwin,
  memoryTwin,
  type Told,
  usedBy,
} from '../support/mandate-twin.ts'
import { mandate, noon, purchase, usd } from '../support/policy.ts'

const givenBy = ({ state, payer, terms, carried, now }: Told, id = 'a'): Mandate => ({
  id,
  state,
  payer,
  ...usedBy(terms, carried, now),
})
const requestOf = ({ request, bought }: Told) => ({ ...request, history: historyFrom(bought) })
const codesOf = (given: Mandate, request = purchase, now = noon) => {
  const cover = coverOf(given, request, now)
  return cover.covers ? [] : cover.reasons.map(({ code }) => code)
}

test('covers what the slow rules cover, and names the rules that fail', () => {
  let covered = 0
  fc.assert(
    fc.property(stories, (told) => {
      const codes = codesOf(givenBy(told), { ...purchase, ...requestOf(told) }, told.now)
      if (codes.length === 0) covered += 1
      expect(codes.toSorted().join()).toBe(coverTwin(told).toSorted().join())
    }),
    { numRuns: casesOf(100_000) },
  )
  // Agreement on refusals alone would prove little.
  expect(covered).toBeGreaterThan(casesOf(1_000))
}, 60_000)

test('memory disagrees where each earlier purchase does', () => {
  fc.assert(
    fc.property(stories, ({ bought, request }) => {
      const paid = { ...request, usd: request.amountUsdMicros }
      const codes = historyReasons(historyFrom(bought), request)
      expect(codes.join()).toBe(memoryTwin(bought, paid).join())
    }),
    { numRuns: casesOf(100_000) },
  )
}, 60_000)

test('every host belongs to the domains that it belongs to label by label', () => {
  for (const domain of [...domains, ...hosts.flatMap((host) => host ?? [])]) {
    for (const host of hosts) {
      for (const isWide of [false, true]) {
        const said = `${domain} ${isWide} ${host}`
        expect(`${said} ${hostMatches(domain, isWide, host)}`).toBe(
          `${said} ${hostTwin(domain, isWide, host)}`,
        )
      }
    }
  }
})

test.each([
  ['https://shop.example.com', 'shop.example.com'],
  ['https://shop.example.com:8443', 'shop.example.com:8443'],
  ['http://localhost:4021', 'localhost:4021'],
  ['http://shop.example.com', null],
  ['https://user@shop.example.com', null],
  ['https://shop.example.com/path', null],
  ['https://SHOP.example.com', null],
  ['shop.example.com', null],
])('the host of the origin %s is %s', (origin, host) => {
  expect(payableHostOf(origin)).toBe(host)
})

test('the best covers, and no other that covers comes before it', () => {
  const several = fc.array(stories, { maxLength: 6 })
  fc.assert(
    fc.property(several, requestStories, (many, request) => {
      const mandates = many.map((told, at) => givenBy(told, `${(at * 5) % 7}`))
      const asked = { ...purchase, ...request }
      const covering = mandates.filter((one) => codesOf(one, asked).length === 0)
      const place = (one: Mandate) =>
        [
          asked.host !== null && hostTwin(one.merchantDomain, false, asked.host) ? 0 : 1,
          one.payTo === null ? 1 : 0,
          String(one.expiresAt.getTime()).padStart(20, '0'),
          one.id,
        ].join()
      const first = covering.map(place).toSorted()[0]
      const best = bestCover(mandates, asked, noon)
      expect(best && place(best)).toBe(first)
    }),
    { numRuns: casesOf(5_000) },
  )
})

const endings = ['declined', 'revoked', 'expired', 'count_limit'].map((end) => `mandate_${end}`)

test('those that are told have to do with the payment, are not over, and lack the least', () => {
  fc.assert(
    fc.property(fc.array(stories, { maxLength: 9 }), requestStories, (many, request) => {
      const mandates = many.map((told, at) => givenBy(told, String(at)))
      const asked = { ...purchase, ...request }
      const lacking = mandates
        .filter((one) => concerns(one, asked))
        .map((one) => codesOf(one, asked))
        .filter((codes) => !codes.some((code) => endings.includes(code)))
        .map(({ length }) => length)
        .filter((reasons) => reasons > 0)
        .toSorted((a, b) => a - b)
      const told = uncoveredBy(mandates, asked, noon)
      expect(told.map(({ reasons }) => reasons.length)).toEqual(lacking.slice(0, 5))
    }),
    { numRuns: casesOf(5_000) },
  )
})

describe('a mandate of 5 USD each, 20 a day, 100 in all and 50 payments', () => {
  test('covers its merchant to the cent and to the millisecond', () => {
    const last = new Date(mandate.expiresAt.getTime() - 1)
    expect(codesOf(mandate, { ...purchase, amountUsdMicros: usd(5) }, last)).toEqual([])
    expect(codesOf(mandate, purchase, mandate.expiresAt)).toEqual(['mandate_expired'])
  })

  test('tells what is left of each cap, and when the day has more', () => {
    const used = {
      ...mandate,
      spentDayUsdMicros: usd(18),
      spentTotalUsdMicros: usd(97),
      payments: 50,
      dayResetsAt: new Date('2026-09-02T03:00:00Z'),
    }
    expect(coverOf(used, { ...purchase, amountUsdMicros: usd(6) }, noon)).toEqual({
      covers: false,
      reasons: [
        { code: 'mandate_payment_limit', headroomUsdMicros: usd(5) },
        {
          code: 'mandate_day_limit',
          headroomUsdMicros: usd(2),
          resetsAt: '2026-09-02T03:00:00.000Z',
        },
        { code: 'mandate_total_limit', headroomUsdMicros: usd(3) },
        { code: 'mandate_count_limit' },
      ],
    })
  })

  test('pays a recipient that is new, but none that imitates a known one', () => {
    expect(codesOf(mandate, { ...purchase, recipientKnown: false })).toEqual([])
    const imitating = { ...purchase, similarRecipient: '0xEE' }
    expect(codesOf(mandate, imitating)).toEqual(['similar_recipient'])
    expect(codesOf({ ...mandate, payTo: [purchase.payTo] }, imitating)).toEqual([])
  })

  test('believes no challenge that only the agent has seen, unless the owner named the payee', () => {
    const unverified = { ...purchase, verifiedWithMerchant: false }
    expect(codesOf(mandate, unverified)).toEqual(['challenge_not_heard'])
    expect(codesOf({ ...mandate, payTo: [purchase.payTo] }, unverified)).toEqual([])
  })

  test('covers a transfer only to a payee that it names', () => {
    const transfer = {
      ...purchase,
      kind: 'transfer' as const,
      host: null,
      verifiedWithMerchant: false,
    }
    expect(codesOf(mandate, transfer)).toEqual(['payee_not_pinned'])
    expect(codesOf({ ...mandate, payTo: ['0xB2'] }, transfer)).toEqual(['other_payee'])
    expect(codesOf({ ...mandate, payTo: [purchase.payTo] }, transfer)).toEqual([])
  })
})
