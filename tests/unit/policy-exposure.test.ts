import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ExposedMandate,
  type ExposureFacts,
  exposureWithin,
} from '../../shared/policy/exposure.ts'
import { casesOf } from '../support/cases.ts'
import {
  type Ending,
  endingsOf,
  everything,
  horizons,
  play,
  type Story,
  stories,
  type Way,
} from '../support/exposure-twin.ts'
import { usd } from '../support/policy.ts'

const day = 1440

/** Facts of a new account with a key that pays, a known recipient and a known device. */
const opened: ExposureFacts = {
  frozen: false,
  canPay: true,
  expiresInMinutes: null,
  limits: {
    automatic: usd(200),
    asserted: usd(200),
    assertedNewRecipient: usd(10),
    total: usd(1000),
    month: usd(30_000),
  },
  caps: { payment: null, day: null },
  recipientKnown: true,
  deviceKnown: true,
  open: { automatic: 0n, asserted: 0n, total: 0n, own: 0n, month: 0n },
  leaving: [],
  approved: [],
  mandates: [],
}
const within = (given: Partial<ExposureFacts>, minutes = day) =>
  exposureWithin({ ...opened, ...given }, minutes)

/** Returns true if the exposure is exact and not only an upper bound, as `exposureWithin` documents. */
function isReached({ facts, open }: Story): boolean {
  const isCounted = open.every(({ way, isOwn }) => typeof way !== 'number' || isOwn)
  return facts.caps.day === null || isCounted
}

test('is what a thief gets who pays as much as passes as soon as it passes', () => {
  fc.assert(
    fc.property(stories.exact, fc.constantFrom(...horizons), (given, horizon) => {
      // Each open payment is executed or released, whichever yields more.
      const taken = endingsOf(given.open).flatMap((endings) =>
        [false, true].map((isApprovedFirst) =>
          play(given, endings, horizon, () => everything(isApprovedFirst)),
        ),
      )
      const most = taken.reduce((best, one) => (one > best ? one : best))
      const { usdMicros } = exposureWithin(given.facts, horizon)
      expect(usdMicros).toBeGreaterThanOrEqual(most)
      if (isReached(given)) expect(usdMicros).toBe(most)
    }),
    { numRuns: casesOf(1_500) },
  )
})

test('is passed by no other way to spread the payments, whatever is open, approved or mandated', () => {
  const ways = fc.array(fc.constantFrom<Way[]>('none', 'agent_asserted', 'approved', 0, 1), {
    minLength: 300,
    maxLength: 300,
  })
  const endings = fc.array(
    fc.record<Ending>({
      ends: fc.constantFrom('executed', 'released', 'open'),
      minute: fc.integer({ min: 0, max: 90 }).map((ticks) => ticks * 120),
    }),
    { minLength: 3, maxLength: 3 },
  )
  fc.assert(
    fc.property(
      stories.any,
      fc.constantFrom(...horizons),
      ways,
      endings,
      (given, horizon, ...how) => {
        const [chosen, ends] = how
        let at = 0
        const next = () => chosen[at++ % chosen.length] ?? 'none'
        const few = () => Array.from({ length: next() === 0 ? 3 : 14 }, next)
        const taken = play(given, ends, horizon, few)
        expect(taken).toBeLessThanOrEqual(exposureWithin(given.facts, horizon).usdMicros)
      },
    ),
    { numRuns: casesOf(5_000) },
  )
})

test('a new account can lose what agents may say was confirmed, and no word of theirs adds to it', () => {
  const nobody = { recipientKnown: false, deviceKnown: false }
  expect([60, day, 7 * day].map((minutes) => within(nobody, minutes).usdMicros)).toEqual([
    usd(200),
    usd(200),
    usd(1400),
  ])
  expect(within(nobody).boundBy).toEqual(['asserted_limit'])
  expect(within({ deviceKnown: false }).usdMicros).toBe(usd(200))
  expect(within({ recipientKnown: false }).usdMicros).toBe(usd(200))
})

test('an owner who knows somebody can lose both daily limits in a day, and seven times that in a week', () => {
  expect([60, day, 7 * day].map((minutes) => within({}, minutes).usdMicros)).toEqual([
    usd(400),
    usd(400),
    usd(2800),
  ])
  expect(within({}).boundBy).toEqual(['automatic_limit', 'asserted_limit'])
})

test('a cap of the account holds it where it is the lowest, and what is open counts in it', () => {
  const limits = { ...opened.limits, total: usd(300) }
  expect(within({ limits })).toEqual({ usdMicros: usd(300), boundBy: ['daily_spending_cap'] })
  const leaving = [{ ...opened.open, minutes: 29 * day, month: usd(29_850) }]
  expect(within({ leaving, open: signed({ total: usd(30), own: usd(30) }) })).toEqual({
    usdMicros: usd(150),
    boundBy: ['monthly_spending_cap', 'open_signatures'],
  })
})

test('the caps of the key hold what it moves, and only that counts against them', () => {
  const caps = { payment: usd(2), day: usd(50) }
  const spent = { minutes: 90, automatic: usd(30), asserted: 0n, total: usd(30), month: 0n }
  expect(within({ caps })).toEqual({ usdMicros: usd(50), boundBy: ['credential_daily_cap'] })
  expect(within({ caps, leaving: [{ ...spent, own: usd(30) }] }, 60).usdMicros).toBe(usd(20))
  expect(within({ caps, leaving: [{ ...spent, own: 0n }] }, 60).usdMicros).toBe(usd(50))
  expect(within({ caps: { payment: 0n, day: null } })).toEqual({
    usdMicros: 0n,
    boundBy: ['credential_payment_cap'],
  })
})

test('a frozen account and a key that cannot pay lose nothing', () => {
  expect(within({ frozen: true })).toEqual({ usdMicros: 0n, boundBy: ['account_frozen'] })
  expect(within({ canPay: false })).toEqual({ usdMicros: 0n, boundBy: ['key_scope'] })
})

test('a key that expires loses nothing after it', () => {
  expect(within({ expiresInMinutes: day + 1 }, 7 * day)).toMatchObject({
    usdMicros: usd(800),
    boundBy: ['key_expiry', 'automatic_limit', 'asserted_limit'],
  })
})

test('where nobody new can be paid and nobody is known, nothing goes', () => {
  const limits = { ...opened.limits, assertedNewRecipient: 0n }
  expect(within({ limits, recipientKnown: false })).toEqual({
    usdMicros: 0n,
    boundBy: ['asserted_new_recipient_limit'],
  })
})

test('what leaves the window just at the end of the hour is not counted as free before it', () => {
  const leaving = (minutes: number) => [
    { minutes, automatic: usd(200), asserted: 0n, total: usd(200), own: usd(200), month: 0n },
  ]
  expect(within({ leaving: leaving(60) }, 60).usdMicros).toBe(usd(200))
  expect(within({ leaving: leaving(59) }, 60).usdMicros).toBe(usd(400))
})

const weekly: ExposedMandate = {
  expiresInMinutes: 90 * day,
  maxPaymentUsdMicros: usd(5),
  maxDayUsdMicros: usd(20),
  leftTotalUsdMicros: usd(100),
  leftPayments: null,
  regainedUsdMicros: 0n,
  openUsdMicros: 0n,
  leaving: [{ minutes: 60, usdMicros: usd(15) }],
}

test('a mandate adds what its day and its total leave, and the daily cap holds it all', () => {
  const mandates = [weekly]
  expect([60, day, 7 * day].map((minutes) => within({ mandates }, minutes).usdMicros)).toEqual([
    usd(405),
    usd(420),
    usd(2900),
  ])
  expect(within({ mandates }, 7 * day).boundBy).toContain('mandate_limits')
  const free = [{ ...weekly, maxDayUsdMicros: null, leftTotalUsdMicros: null }]
  expect(within({ mandates: free })).toEqual({
    usdMicros: usd(1000),
    boundBy: ['daily_spending_cap'],
  })
})

test('a mandate that ends or that counts its payments adds no more than that', () => {
  const ending = { ...weekly, expiresInMinutes: day + 60, leaving: [] }
  const counting = { ...weekly, leftPayments: 3, leaving: [] }
  expect(within({ mandates: [ending] }, 7 * day).usdMicros).toBe(usd(2840))
  expect(within({ mandates: [counting] }, 7 * day).usdMicros).toBe(usd(2815))
  const caps = { payment: usd(2), day: null }
  expect(within({ caps, mandates: [counting] }, 7 * day).usdMicros).toBe(usd(2806))
})

const signed = (sums: Partial<ExposureFacts['open']>) => {
  return { ...opened.open, month: sums.total ?? 0n, ...sums }
}
const approval = (amount: number, more: Partial<ExposureFacts['approved'][number]> = {}) => ({
  expiresInMinutes: 600,
  eachUsdMicros: usd(amount),
  usdMicros: usd(amount),
  ...more,
})

test('what is approved and unpaid passes the limits by, below the daily cap', () => {
  expect([60, day, 7 * day].map((at) => within({ approved: [approval(600)] }, at))).toMatchObject([
    { usdMicros: usd(1000), boundBy: ['daily_spending_cap'] },
    { usdMicros: usd(1000) },
    { usdMicros: usd(3400) },
  ])
  expect(within({ approved: [approval(100)] })).toEqual({
    usdMicros: usd(500),
    boundBy: ['automatic_limit', 'asserted_limit', 'approved_payments'],
  })
})

test('what is approved lets nothing else through', () => {
  const limits = { ...opened.limits, assertedNewRecipient: 0n }
  const caps = { payment: null, day: usd(400) }
  const given = { limits, recipientKnown: false, approved: [approval(500)] }

  expect(within(given).usdMicros).toBe(usd(500))
  expect(within({ ...given, caps }).usdMicros).toBe(0n)
})

test('what was approved can be paid once, and not after it expired', () => {
  const ending = approval(600, { expiresInMinutes: day, eachUsdMicros: usd(100) })
  const limits = { ...opened.limits, total: usd(500) }
  expect(within({ approved: [approval(600)] }, 2 * day).usdMicros).toBe(usd(1400))
  expect(within({ limits, approved: [ending] }, 2 * day).usdMicros).toBe(usd(900))
  expect(within({ limits, approved: [{ ...ending, expiresInMinutes: day + 1 }] }, 2 * day)).toEqual(
    {
      usdMicros: usd(1000),
      boundBy: ['daily_spending_cap'],
    },
  )
})

test('what is open leaves, and its part of the limits is used by it or by what takes its place', () => {
  const open = signed({ automatic: usd(150), asserted: usd(50), total: usd(200) })
  expect([60, day, 7 * day].map((at) => within({ open }, at).usdMicros)).toEqual([
    usd(400),
    usd(400),
    usd(2800),
  ])
  expect(within({ open }).boundBy).toContain('open_signatures')
})

test('what was signed under higher limits leaves on top of what the present ones let through', () => {
  const limits = { ...opened.limits, automatic: usd(20), total: usd(300) }
  const automatic = signed({ automatic: usd(150), total: usd(150) })
  const beyond = signed({ total: usd(900), own: usd(900) })
  expect(within({ limits, open: automatic }).usdMicros).toBe(usd(300))
  expect(within({ limits, open: beyond })).toEqual({
    usdMicros: usd(900),
    boundBy: ['daily_spending_cap', 'open_signatures'],
  })
})

test('what is open leaves a frozen account too, and with a key that can pay nothing', () => {
  const open = signed({ total: usd(70) })
  expect(within({ open, frozen: true })).toEqual({
    usdMicros: usd(70),
    boundBy: ['account_frozen', 'open_signatures'],
  })
  expect(within({ open, canPay: false }).usdMicros).toBe(usd(70))
  expect(within({ open, expiresInMinutes: 0 }).usdMicros).toBe(usd(70))
})

test('what is released under a mandate makes room now and is paid under it later', () => {
  const limits = { ...opened.limits, automatic: 0n, asserted: usd(1), total: usd(4) }
  const once = { ...weekly, maxPaymentUsdMicros: usd(1), maxDayUsdMicros: null }
  const leaving = [{ minutes: day, usdMicros: usd(1) }]
  const mandates = [{ ...once, leftTotalUsdMicros: 0n, openUsdMicros: usd(1), leaving }]
  const open = signed({ automatic: usd(3), total: usd(4) })
  const given = { limits, mandates, open }
  // 3 are open beside it, 1 leaves each day on the agent's word, and 1 under the mandate tomorrow.
  expect([day, 7 * day].map((at) => within(given, at).usdMicros)).toEqual([usd(4), usd(11)])
})

test('a place that a released payment gives back under a mandate may be used for more', () => {
  const counting = { ...weekly, leftPayments: 0, leaving: [], leftTotalUsdMicros: null }
  const open = signed({ total: usd(1) })
  const mandates = [{ ...counting, regainedUsdMicros: usd(4) }]
  expect(within({ mandates, open }).usdMicros).toBe(usd(405))
})
