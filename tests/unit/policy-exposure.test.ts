import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decide } from '../../shared/policy/decide.ts'
import type { ExposureFacts } from '../../shared/policy/exposure.ts'
import { exposureWithin } from '../../shared/policy/exposure.ts'
import { usd, usual } from '../support/policy.ts'

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
  recipientKnown: false,
  deviceKnown: false,
  leaving: [],
  mandates: [],
}
const within = (given: Partial<ExposureFacts>, minutes = day) =>
  exposureWithin({ ...opened, ...given }, minutes)

type Spend = { minute: number; level: 'none' | 'agent_asserted' | 'user_session'; usd: bigint }
type Story = { facts: ExposureFacts; spends: Spend[] }

// Coarse times, so that windows of several days are walked in a moment.
const tick = 120
const few = fc.bigInt({ min: 0n, max: 6n })
const story: fc.Arbitrary<Story> = fc
  .record({
    limits: fc.record({ automatic: few, asserted: few, assertedNewRecipient: few, total: few }),
    recipientKnown: fc.boolean(),
    deviceKnown: fc.boolean(),
    frozen: fc.constantFrom(false, false, false, true),
    canPay: fc.constantFrom(true, true, true, false),
    expiresInMinutes: fc.option(fc.integer({ min: 1, max: 60 }).map((ticks) => ticks * tick)),
    spends: fc.array(
      fc.record({
        minute: fc.integer({ min: 1, max: 12 }).map((ticks) => (ticks - 12) * tick),
        level: fc.constantFrom('none', 'agent_asserted', 'user_session'),
        usd: fc.bigInt({ min: 1n, max: 4n }),
      }),
      { maxLength: 6 },
    ),
  })
  .map(({ spends, ...rest }) => ({
    facts: { ...rest, mandates: [], leaving: leavingOf(spends) },
    spends,
  }))

function leavingOf(spends: Spend[]): ExposureFacts['leaving'] {
  return spends.map(({ minute, level, usd: amount }) => ({
    minutes: minute + day,
    automatic: level === 'none' ? amount : 0n,
    asserted: level === 'agent_asserted' ? amount : 0n,
    total: amount,
  }))
}

/** Whether one unit passes at this minute, as the product itself decides it. */
function passes(given: Story, spends: Spend[], minute: number, userConfirmed: boolean) {
  const { limits, frozen, canPay, expiresInMinutes, ...facts } = given.facts
  if (frozen || !canPay || minute >= (expiresInMinutes ?? Infinity)) return undefined
  const counted = spends.filter((spend) => spend.minute > minute - day)
  const window = (limit: bigint, level?: Spend['level']) => ({
    limit,
    spent: counted
      .filter((spend) => level === undefined || spend.level === level)
      .reduce((sum, spend) => sum + spend.usd, 0n),
    resetsAt: null,
  })
  const fresh = spends.slice(given.spends.length)
  const isKnown = fresh.some(({ level }) => level === 'agent_asserted')
  const decision = decide({
    ...usual,
    amountUsdMicros: 1n,
    automaticDaily: window(limits.automatic, 'none'),
    assertedDaily: window(limits.asserted, 'agent_asserted'),
    dailySpendingCap: window(limits.total),
    assertedNewRecipientLimit: limits.assertedNewRecipient,
    recipientKnown: facts.recipientKnown || isKnown,
    deviceKnown: facts.deviceKnown || isKnown,
    userConfirmed,
  })
  return decision.verdict === 'allow' ? decision.consentLevel : undefined
}

/** Pays unit by unit; `tries` says at which try of a tick it pays, and on whose word. */
function play(given: Story, horizon: number, tries: (minute: number) => boolean[]): bigint {
  const spends = [...given.spends]
  let moved = 0n
  for (let minute = 0; minute < horizon; minute += tick) {
    for (const userConfirmed of tries(minute)) {
      const level = passes(given, spends, minute, userConfirmed)
      if (level !== 'none' && level !== 'agent_asserted') continue
      spends.push({ minute, level, usd: 1n })
      moved += 1n
    }
  }
  return moved
}

const horizons = [tick, 12 * tick, 17 * tick, 7 * 12 * tick]
const everything = [...Array<boolean>(7).fill(true), ...Array<boolean>(7).fill(false)]

test('is what a thief gets who pays as much as passes as soon as it passes', () => {
  fc.assert(
    fc.property(story, fc.constantFrom(...horizons), (given, horizon) => {
      const taken = play(given, horizon, () => everything)
      expect(exposureWithin(given.facts, horizon).usdMicros).toBe(taken)
    }),
    { numRuns: 1_000 },
  )
})

test('is passed by no other way to spread the payments', () => {
  const bits = fc.array(fc.boolean(), { minLength: 300, maxLength: 300 })
  fc.assert(
    fc.property(story, fc.constantFrom(...horizons), bits, (given, horizon, chosen) => {
      let at = 0
      const next = () => chosen[at++ % chosen.length] === true
      const taken = play(given, horizon, () => everything.map(next).slice(0, next() ? 14 : 3))
      expect(taken).toBeLessThanOrEqual(exposureWithin(given.facts, horizon).usdMicros)
    }),
    { numRuns: 400 },
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
    { minutes, automatic: usd(200), asserted: 0n, total: usd(200) },
  ]
  expect(within({ leaving: leaving(60) }, 60).usdMicros).toBe(usd(200))
  expect(within({ leaving: leaving(59) }, 60).usdMicros).toBe(usd(400))
})
