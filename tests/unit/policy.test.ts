import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decision, decide, headroom, type ReasonCode } from '../../shared/policy/decide.ts'
import type { Facts, Window } from '../../shared/policy/facts.ts'
import { coverOf } from '../../shared/policy/mandate.ts'
import { historyReasons, noHistory } from '../../shared/policy/memory.ts'
import { casesOf } from '../support/cases.ts'
import { stories } from '../support/mandate-stories.ts'
import { historyFrom, usedBy } from '../support/mandate-twin.ts'
import { mandate, usd, usual } from '../support/policy.ts'

const resetsAt = '2026-09-02T12:00:00.000Z'
const window = (limit: number, spent = 0): Window => ({
  limit: usd(limit),
  spent: usd(spent),
  resetsAt: spent === 0 ? null : resetsAt,
})

const deciding = (facts: Partial<Facts>) => decide({ ...usual, ...facts })

function codesOf(decision: Decision): ReasonCode[] {
  return decision.verdict === 'allow' ? [] : decision.reasons.map(({ code }) => code)
}

const none: Window = { limit: 2n ** 64n, spent: 0n, resetsAt: null }

const isLetPass = (facts: Facts) =>
  facts.passesDailyCap && facts.userConfirmed && facts.ownerApproved !== null

/** Slow, obvious twin, which counts what each kind of consent requires. */
function decideTwin(facts: Facts): string {
  const fits = ({ limit, spent }: Window) => spent + facts.amountUsdMicros <= limit
  const capped = [
    !fits(facts.credentialDaily ?? none) && 'credential_daily_cap',
    facts.amountUsdMicros > (facts.credentialPaymentCap ?? none.limit) && 'credential_payment_cap',
    !fits(facts.dailySpendingCap) && !isLetPass(facts) && 'daily_spending_cap',
    !fits(facts.monthlySpendingCap) && 'monthly_spending_cap',
  ].filter((code) => code !== false)
  if (capped.length > 0) return `refuse: ${capped.join(' ')}`
  if (facts.userConfirmed && facts.ownerApproved) return `allow: ${facts.ownerApproved}`
  const isCovered = facts.mandates.some((one) => coverOf(one, facts, facts.now).covers)
  if (isCovered) return 'allow: mandate'
  const similar = facts.similarRecipient === null ? [] : ['similar_recipient']
  const automatic = [
    ...similar,
    ...(facts.recipientKnown ? [] : ['new_recipient']),
    ...(facts.deviceKnown ? [] : ['new_device']),
    ...(facts.otherResource ? ['other_resource'] : []),
    ...historyReasons(facts.history, facts),
    ...(fits(facts.automaticDaily) ? [] : ['automatic_limit']),
  ]
  const isSmall = fits(facts.assertedNewRecipient)
  const asserted = [
    ...similar,
    ...(facts.recipientKnown || isSmall ? [] : ['asserted_new_recipient_limit']),
    ...(fits(facts.assertedDaily) ? [] : ['asserted_limit']),
  ]
  if (facts.userConfirmed && asserted.length === 0) return 'allow: agent_asserted'
  if (automatic.length === 0) return 'allow: none'
  if (asserted.length === 0) return `confirm agent_asserted: ${automatic.toSorted().join(' ')}`
  const reasons = new Set(facts.userConfirmed ? asserted : [...automatic, ...asserted])
  return `confirm ${facts.hasPasskey ? 'user_passkey' : 'user_session'}: ${[...reasons].toSorted().join(' ')}`
}

function told(decision: Decision): string {
  const codes = codesOf(decision).toSorted().join(' ')
  if (decision.verdict === 'allow') return `allow: ${decision.consentLevel}`
  if (decision.verdict === 'refuse') return `refuse: ${codes}`
  return `confirm ${decision.neededLevel}: ${codes}`
}

const micros = fc.oneof(fc.bigInt({ min: 0n, max: 12n }), fc.bigInt({ min: 0n, max: 2n ** 62n }))
const windows = fc.record({ limit: micros, spent: micros, resetsAt: fc.constant(resetsAt) })
/** Random facts, in which a mandate may cover half of the payments. */
const factsArbitrary: fc.Arbitrary<Facts> = fc
  .record({
    given: stories,
    mandates: fc.array(stories, { maxLength: 2 }),
    amountUsdMicros: fc.option(
      micros.map((value) => value + 1n),
      { freq: 2 },
    ),
    windows: fc.record({
      automaticDaily: windows,
      assertedDaily: windows,
      assertedNewRecipient: windows,
      dailySpendingCap: windows,
      credentialDaily: fc.option(windows, { freq: 2 }),
    }),
    own: fc.record({
      credentialPaymentCap: fc.option(micros, { freq: 2 }),
      recipientKnown: fc.boolean(),
      userConfirmed: fc.boolean(),
      ownerApproved: fc.constantFrom(null, 'user_session' as const, 'user_passkey' as const),
      passesDailyCap: fc.boolean(),
      hasPasskey: fc.boolean(),
      monthlySpendingCap: fc.oneof({ weight: 4, arbitrary: fc.constant(none) }, windows),
    }),
  })
  .map(({ given: { request, bought, now }, mandates, amountUsdMicros, ...rest }) => ({
    ...request,
    ...rest.windows,
    ...rest.own,
    amountUsdMicros: amountUsdMicros ?? request.amountUsdMicros,
    history: historyFrom(bought),
    mandates: mandates.map(({ state, payer, terms, carried }, at) => {
      return { id: String(at), state, payer, ...usedBy(terms, carried, now) }
    }),
    now,
  }))
const holds = (check: (facts: Facts) => void) =>
  fc.assert(fc.property(factsArbitrary, check), { numRuns: casesOf(5_000) })

test('decides as the slow decider does', () => {
  let carried = 0
  holds((facts) => {
    const said = told(decide(facts))
    if (said === 'allow: mandate') carried += 1
    expect(said).toBe(decideTwin(facts))
  })
  expect(carried).toBeGreaterThan(0)
})

test('nothing that it allows passes a cap that its approved terms do not let it pass, and its word stays within what carries it', () => {
  holds((facts) => {
    const decision = decide(facts)
    if (decision.verdict !== 'allow') return
    const { amountUsdMicros, credentialDaily, credentialPaymentCap } = facts
    expect(isLetPass(facts) || amountUsdMicros <= headroom(facts.dailySpendingCap)).toBe(true)
    expect(amountUsdMicros).toBeLessThanOrEqual(headroom(facts.monthlySpendingCap))
    expect(amountUsdMicros).toBeLessThanOrEqual(headroom(credentialDaily ?? none))
    expect(amountUsdMicros).toBeLessThanOrEqual(credentialPaymentCap ?? none.limit)
    if (decision.consentLevel.startsWith('user')) {
      expect(facts.ownerApproved !== null && facts.userConfirmed).toBe(true)
      return
    }
    if (decision.consentLevel === 'mandate') {
      const carrier = facts.mandates.find(({ id }) => id === decision.mandateId)
      expect(carrier && coverOf(carrier, facts, facts.now)).toEqual({ covers: true })
      return
    }
    const isAutomatic = decision.consentLevel === 'none'
    const carrier = isAutomatic ? facts.automaticDaily : facts.assertedDaily
    expect(amountUsdMicros).toBeLessThanOrEqual(headroom(carrier))
    expect(isAutomatic || facts.userConfirmed).toBe(true)
    expect(facts.similarRecipient).toBeNull()
  })
})

test('a smaller amount, a wider limit or a known face never makes a decision harder', () => {
  const order = ['allow', 'confirm agent_asserted', 'confirm owner', 'refuse']
  const rank = (facts: Facts) =>
    order.indexOf(
      told(decide(facts))
        .split(':')[0]
        ?.replace(/ user_.*/, ' owner') ?? '',
    )
  const wider = (given: Window, more: bigint): Window => ({ ...given, limit: given.limit + more })
  fc.assert(
    fc.property(factsArbitrary, micros, (facts, more) => {
      const { automaticDaily, assertedDaily, dailySpendingCap, amountUsdMicros } = facts
      // A lower price is as unusual as a higher one.
      const smaller = amountUsdMicros > more ? amountUsdMicros - more : 1n
      const isNew = facts.history.payees.length === 0
      const easier: Partial<Facts>[] = [
        ...(isNew ? [{ amountUsdMicros: smaller }] : []),
        { history: noHistory },
        { otherResource: false },
        { mandates: [...facts.mandates, mandate] },
        { automaticDaily: wider(automaticDaily, more) },
        { assertedDaily: wider(assertedDaily, more) },
        { dailySpendingCap: wider(dailySpendingCap, more) },
        { monthlySpendingCap: wider(facts.monthlySpendingCap, more) },
        { credentialDaily: wider(facts.credentialDaily ?? none, more) },
        { credentialPaymentCap: (facts.credentialPaymentCap ?? none.limit) + more },
        { credentialDaily: null, credentialPaymentCap: null },
        { assertedNewRecipient: wider(facts.assertedNewRecipient, more) },
        { recipientKnown: true },
        { deviceKnown: true },
        { similarRecipient: null },
        { userConfirmed: true },
        { ownerApproved: 'user_session' },
      ]
      for (const change of easier) {
        expect(rank({ ...facts, ...change })).toBeLessThanOrEqual(rank(facts))
      }
    }),
    { numRuns: casesOf(2_000) },
  )
})

test('a reason with a limit tells what is left of it and when it resets', () => {
  holds((facts) => {
    const decision = decide(facts)
    const reasons = decision.verdict === 'allow' ? [] : decision.reasons
    for (const { headroomUsdMicros, code } of reasons) {
      const isLimit = code.includes('limit') || code.includes('cap')
      expect(headroomUsdMicros !== undefined).toBe(isLimit)
      if (headroomUsdMicros !== undefined) {
        expect(headroomUsdMicros).toBeGreaterThanOrEqual(0n)
        expect(headroomUsdMicros).toBeLessThan(facts.amountUsdMicros)
      }
    }
  })
})

describe('without a confirmation', () => {
  test('200 USD in 24 hours go to whom and from where the account knows, not a cent more', () => {
    const full = { amountUsdMicros: usd(200) }
    expect(deciding(full)).toEqual({ verdict: 'allow', consentLevel: 'none' })
    expect(deciding({ ...full, automaticDaily: window(200, 1) })).toMatchObject({
      verdict: 'confirm',
      neededLevel: 'agent_asserted',
      reasons: [{ code: 'automatic_limit', headroomUsdMicros: usd(199), resetsAt }],
    })
  })

  test.each([
    ['a new recipient', { recipientKnown: false }, 'new_recipient'],
    ['a new device', { deviceKnown: false }, 'new_device'],
  ] as const)('%s is asked about, however small the amount', (_name, facts, code) => {
    const decision = deciding({ ...facts, amountUsdMicros: 1n })
    expect(decision).toMatchObject({ verdict: 'confirm', neededLevel: 'agent_asserted' })
    expect(codesOf(decision)).toEqual([code])
  })
})

describe("on the agent's word", () => {
  const userConfirmed = true

  test('200 USD in 24 hours go to a known recipient, not a cent more', () => {
    const full = { userConfirmed, amountUsdMicros: usd(200), automaticDaily: window(0) }
    expect(deciding(full)).toEqual({ verdict: 'allow', consentLevel: 'agent_asserted' })
    expect(deciding({ ...full, amountUsdMicros: usd(200) + 1n })).toMatchObject({
      verdict: 'confirm',
      neededLevel: 'user_session',
      reasons: [{ code: 'asserted_limit', headroomUsdMicros: usd(200) }],
    })
  })

  test('10 USD go to one new recipient in 24 hours, not a cent more in however many payments', () => {
    const small = { userConfirmed, recipientKnown: false, amountUsdMicros: usd(10) }
    expect(deciding(small)).toEqual({ verdict: 'allow', consentLevel: 'agent_asserted' })
    expect(deciding({ ...small, amountUsdMicros: usd(10) + 1n })).toMatchObject({
      verdict: 'confirm',
      neededLevel: 'user_session',
      reasons: [{ code: 'asserted_new_recipient_limit', headroomUsdMicros: usd(10) }],
    })
    const more = deciding({ ...small, assertedNewRecipient: window(10, 1) })
    expect(codesOf(more)).toEqual(['asserted_new_recipient_limit'])
  })

  test('a new device pays, and what needs no confirmation is still booked as confirmed', () => {
    for (const facts of [{ deviceKnown: false }, {}])
      expect(told(deciding({ userConfirmed, ...facts }))).toBe('allow: agent_asserted')
  })

  test('what the word no longer carries goes through as unconfirmed where that is enough', () => {
    const decision = deciding({ userConfirmed, assertedDaily: window(200, 200) })
    expect(decision).toEqual({ verdict: 'allow', consentLevel: 'none' })
  })

  test('an address that imitates a known one is the owner’s to confirm', () => {
    const similarRecipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const decision = deciding({ userConfirmed, recipientKnown: false, similarRecipient })
    expect(decision).toMatchObject({ verdict: 'confirm', neededLevel: 'user_session' })
    expect(codesOf(decision)).toContain('similar_recipient')
  })
})

describe("on the owner's approval", () => {
  const against: Partial<Facts> = {
    amountUsdMicros: usd(1000),
    recipientKnown: false,
    deviceKnown: false,
    similarRecipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    ownerApproved: 'user_session',
  }

  test('whatever speaks against it is paid, and not a cent over the cap', () => {
    const confirmed = { ...against, userConfirmed: true }
    expect(deciding(confirmed)).toEqual({ verdict: 'allow', consentLevel: 'user_session' })
    expect(deciding({ ...confirmed, amountUsdMicros: usd(1000) + 1n }).verdict).toBe('refuse')
  })

  test('nothing is paid before the agent says that the user wants it', () =>
    expect(deciding(against)).toMatchObject({ verdict: 'confirm', neededLevel: 'user_session' }))
})

test.each([false, true])('over the cap nothing goes, confirmed or not (%s)', (userConfirmed) => {
  const facts = { userConfirmed, amountUsdMicros: usd(101), dailySpendingCap: window(1000, 900) }
  expect(deciding(facts)).toEqual({
    verdict: 'refuse',
    reasons: [{ code: 'daily_spending_cap', headroomUsdMicros: usd(100), resetsAt }],
    mandates: [],
  })
})

test('an account that is over a lowered limit has nothing left, and not less than nothing', () =>
  expect([150, 100, 99].map((spent) => headroom(window(100, spent)))).toEqual([0n, 0n, usd(1)]))
