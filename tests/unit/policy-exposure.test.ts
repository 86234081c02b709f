import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decide } from '../../shared/policy/decide.ts'
import type { ExposedMandate, ExposureFacts } from '../../shared/policy/exposure.ts'
import { exposureWithin } from '../../shared/policy/exposure.ts'
import { mandate, noon, purchase, usd } from '../support/policy.ts'

const day = 1440

/** An account as it is opened, with a key that pays. */
const opened: ExposureFacts = {
  frozen: false,
  canPay: true,
  expiresInMinutes: null,
  limits: {
    automatic: usd(200),
    asserted: usd(200),
    assertedNewRecipient: usd(10),
    total: usd(1000),
  },
  caps: { payment: null, day: null },
  recipientKnown: false,
  deviceKnown: false,
  leaving: [],
  mandates: [],
}
const within = (given: Partial<ExposureFacts>, minutes = day) =>
  exposureWithin({ ...opened, ...given }, minutes)

/** On whose word a payment is tried, or under which mandate. */
type Way = 'none' | 'agent_asserted' | number
type Spend = { minute: number; way: Way | 'user_session'; usd: bigint; isOwn: boolean }
type Story = { facts: ExposureFacts; spends: Spend[] }

// Coarse times, so that windows of several days are walked in a moment.
const tick = 120
const few = fc.bigInt({ min: 0n, max: 6n })
const ticks = (max: number) => fc.integer({ min: 1, max }).map((count) => count * tick)
const storyWith = (mandates: fc.Arbitrary<Omit<ExposedMandate, 'leaving'>[]>) =>
  fc
    .record({
      limits: fc.record({ automatic: few, asserted: few, assertedNewRecipient: few, total: few }),
      caps: fc.record({ payment: fc.option(few), day: fc.option(few) }),
      recipientKnown: fc.boolean(),
      deviceKnown: fc.boolean(),
      frozen: fc.constantFrom(false, false, false, true),
      canPay: fc.constantFrom(true, true, true, false),
      expiresInMinutes: fc.option(ticks(60)),
      mandates,
      spends: fc.array(
        fc.record({
          minute: ticks(12).map((minutes) => minutes - day),
          way: fc.constantFrom<Spend['way'][]>('none', 'agent_asserted', 'user_session', 0, 1),
          usd: fc.bigInt({ min: 1n, max: 4n }),
          isOwn: fc.boolean(),
        }),
        { maxLength: 6 },
      ),
    })
    .map(({ spends, ...rest }): Story => {
      const withLeaving = rest.mandates.map((one, at) => ({
        ...one,
        leaving: spends
          .filter(({ way }) => way === at)
          .map(({ minute, usd: usdMicros }) => ({ minutes: minute + day, usdMicros })),
      }))
      const facts = { ...rest, mandates: withLeaving, leaving: leavingOf(spends) }
      return { facts, spends }
    })

const uncounted = fc.record({
  expiresInMinutes: fc.constant(90 * day),
  maxPaymentUsdMicros: few.map((one) => one + 1n),
  maxDayUsdMicros: fc.option(few),
  leftTotalUsdMicros: fc.option(fc.bigInt({ min: 0n, max: 20n })),
  leftPayments: fc.constant(null),
})
const anyMandate = fc.record({
  expiresInMinutes: ticks(90),
  maxPaymentUsdMicros: few.map((one) => one + 1n),
  maxDayUsdMicros: fc.option(few),
  leftTotalUsdMicros: fc.option(fc.bigInt({ min: 0n, max: 20n })),
  leftPayments: fc.option(fc.nat({ max: 9 })),
})

function leavingOf(spends: Spend[]): ExposureFacts['leaving'] {
  return spends.map(({ minute, way, usd: amount, isOwn }) => ({
    minutes: minute + day,
    automatic: way === 'none' ? amount : 0n,
    asserted: way === 'agent_asserted' ? amount : 0n,
    total: amount,
    own: isOwn ? amount : 0n,
  }))
}

const sum = (spends: Spend[]) => spends.reduce((total, spend) => total + spend.usd, 0n)
const timeAt = (minute: number) => new Date(noon.getTime() + minute * 60_000)

/** Whether one unit passes that way at this minute, as the product itself decides it. */
function passes(given: Story, spends: Spend[], minute: number, way: Way): boolean {
  const { limits, caps, frozen, canPay, expiresInMinutes, ...facts } = given.facts
  if (frozen || !canPay || minute >= (expiresInMinutes ?? Infinity)) return false
  const counted = spends.filter((spend) => spend.minute > minute - day)
  const window = (limit: bigint, only?: Way) => ({
    limit,
    spent: sum(counted.filter((spend) => only === undefined || spend.way === only)),
    resetsAt: null,
  })
  const fresh = spends.slice(given.spends.length)
  const isKnown = fresh.some((spend) => spend.way === 'agent_asserted')
  const mandates = facts.mandates.map((one, at) => ({
    ...mandate,
    id: String(at),
    merchantDomain: `m${at}.example.com`,
    maxPaymentUsdMicros: one.maxPaymentUsdMicros,
    maxDayUsdMicros: one.maxDayUsdMicros,
    maxTotalUsdMicros: one.leftTotalUsdMicros,
    maxPayments: one.leftPayments,
    expiresAt: timeAt(one.expiresInMinutes),
    spentDayUsdMicros: sum(counted.filter((spend) => spend.way === at)),
    spentTotalUsdMicros: sum(fresh.filter((spend) => spend.way === at)),
    payments: fresh.filter((spend) => spend.way === at).length,
  }))
  const decision = decide({
    ...purchase,
    host: typeof way === 'number' ? `m${way}.example.com` : 'other.example.org',
    amountUsdMicros: 1n,
    automaticDaily: window(limits.automatic, 'none'),
    assertedDaily: window(limits.asserted, 'agent_asserted'),
    dailySpendingCap: window(limits.total),
    credentialPaymentCap: caps.payment,
    credentialDaily:
      caps.day === null
        ? null
        : { ...window(caps.day), spent: sum(counted.filter(({ isOwn }) => isOwn)) },
    assertedNewRecipientLimit: limits.assertedNewRecipient,
    recipientKnown: facts.recipientKnown || isKnown,
    deviceKnown: facts.deviceKnown || isKnown,
    userConfirmed: way === 'agent_asserted',
    mandates,
    now: timeAt(minute),
  })
  return 'consentLevel' in decision && (decision.mandateId ?? decision.consentLevel) === `${way}`
}

/** Pays unit by unit; `tries` says in which ways it tries to in a tick. */
function play(given: Story, horizon: number, tries: (minute: number) => Way[]): bigint {
  const spends = [...given.spends]
  for (let minute = 0; minute < horizon; minute += tick) {
    for (const way of tries(minute)) {
      if (passes(given, spends, minute, way)) {
        spends.push({ minute, way, usd: 1n, isOwn: true })
      }
    }
  }
  return sum(spends.slice(given.spends.length))
}

const horizons = [tick, 12 * tick, 17 * tick, 7 * 12 * tick]
const everything = (['agent_asserted', 'none', 0] as const).flatMap((way) =>
  Array<Way>(7).fill(way),
)

test('is what a thief gets who pays as much as passes as soon as it passes', () => {
  const story = storyWith(fc.array(uncounted, { maxLength: 1 }))
  fc.assert(
    fc.property(story, fc.constantFrom(...horizons), (given, horizon) => {
      const taken = play(given, horizon, () => everything)
      expect(exposureWithin(given.facts, horizon).usdMicros).toBe(taken)
    }),
    { numRuns: 1_000 },
  )
})

test('is passed by no other way to spread the payments, whatever the mandates', () => {
  const story = storyWith(fc.array(anyMandate, { maxLength: 2 }))
  const ways = fc.array(fc.constantFrom<Way[]>('none', 'agent_asserted', 0, 1), {
    minLength: 300,
    maxLength: 300,
  })
  fc.assert(
    fc.property(story, fc.constantFrom(...horizons), ways, (given, horizon, chosen) => {
      let at = 0
      const next = () => chosen[at++ % chosen.length] ?? 'none'
      const few = () => Array.from({ length: next() === 0 ? 3 : 14 }, next)
      const taken = play(given, horizon, few)
      expect(taken).toBeLessThanOrEqual(exposureWithin(given.facts, horizon).usdMicros)
    }),
    { numRuns: 600 },
  )
})

test('a new account can lose both daily limits in a day, and seven times that in a week', () => {
  expect([60, day, 7 * day].map((minutes) => within({}, minutes).usdMicros)).toEqual([
    usd(400),
    usd(400),
    usd(2800),
  ])
  expect(within({}).boundBy).toEqual(['automatic_limit', 'asserted_limit'])
})

test('the daily cap holds it where it is the lowest', () => {
  const limits = { ...opened.limits, total: usd(300) }
  expect(within({ limits })).toEqual({ usdMicros: usd(300), boundBy: ['daily_spending_cap'] })
})

test('the caps of the key hold what it moves, and only that counts against them', () => {
  const caps = { payment: usd(2), day: usd(50) }
  const spent = { minutes: 90, automatic: usd(30), asserted: 0n, total: usd(30) }
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
  expect(within({ limits })).toEqual({
    usdMicros: 0n,
    boundBy: ['asserted_new_recipient_limit'],
  })
})

test('what leaves the window just at the end of the hour is not counted as free before it', () => {
  const leaving = (minutes: number) => [
    { minutes, automatic: usd(200), asserted: 0n, total: usd(200), own: usd(200) },
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
