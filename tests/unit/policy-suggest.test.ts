import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decide } from '../../shared/policy/decide.ts'
import { type Facts, limitCodes, type Window } from '../../shared/policy/facts.ts'
import type { Mandate } from '../../shared/policy/mandate.ts'
import { type Change, changesThatPass, type Fits } from '../../shared/policy/suggest.ts'
import { casesOf } from '../support/cases.ts'
import { historyFrom } from '../support/mandate-twin.ts'
import { mandate, noon, purchase } from '../support/policy.ts'

/** Payments of a story, each with the second at which it leaves the window. */
type Level = 'none' | 'mandate' | 'agent_asserted' | 'user_session'
type Spend = { leaves: number; level: Level; amount: bigint; isOwn: boolean; isToPayee: boolean }
type Story = { facts: Facts; fits: Fits; spends: Spend[] }

const few = fc.bigInt({ min: 0n, max: 9n })
const secondsMax = 15
const windowNames = [
  'automaticDaily',
  'assertedDaily',
  'assertedNewRecipient',
  'dailySpendingCap',
  'monthlySpendingCap',
] as const
const counts: Record<(typeof windowNames)[number], string | null> = {
  automaticDaily: 'none',
  assertedDaily: 'agent_asserted',
  assertedNewRecipient: 'agent_asserted',
  dailySpendingCap: null,
  monthlySpendingCap: null,
}

/** Mandate for the merchant that is paid, with caps of a few units. */
const mandates = fc.record({
  maxPaymentUsdMicros: fc.bigInt({ min: 1n, max: 9n }),
  maxDayUsdMicros: fc.option(few),
  maxTotalUsdMicros: fc.option(few),
  expiresAt: fc.integer({ min: 0, max: 40 }).map((second) => at(second)),
})

const history = fc
  .array(fc.bigInt({ min: 1n, max: 9n }), { maxLength: 2 })
  .map((prices) => historyFrom(prices.map((price) => ({ ...purchase, usd: price }))))

const story = fc
  .record({
    kind: fc.constantFrom('x402' as const, 'transfer' as const),
    verifiedWithMerchant: fc.boolean(),
    otherResource: fc.constantFrom(false, false, false, true),
    history,
    given: fc.option(mandates, { freq: 2 }),
    limits: fc.record({
      automaticDaily: few,
      assertedDaily: few,
      assertedNewRecipient: few,
      dailySpendingCap: few,
      monthlySpendingCap: few,
    }),
    amountUsdMicros: fc.bigInt({ min: 1n, max: 9n }),
    credentialPaymentCap: fc.option(few),
    ownDaily: fc.option(few),
    recipientKnown: fc.boolean(),
    deviceKnown: fc.boolean(),
    similarRecipient: fc.constantFrom(null, null, null, '0xaB'),
    userConfirmed: fc.boolean(),
    ownerApproved: fc.constantFrom(null, 'user_session' as const),
    spends: fc.array(
      fc.record({
        leaves: fc.integer({ min: 1, max: secondsMax }),
        level: fc.constantFrom<Level[]>('none', 'mandate', 'agent_asserted', 'user_session'),
        amount: fc.bigInt({ min: 1n, max: 5n }),
        isOwn: fc.boolean(),
        isToPayee: fc.boolean(),
      }),
      { maxLength: 6 },
    ),
  })
  .map(({ limits, ownDaily, spends, given, kind, ...rest }): Story => {
    const facts: Facts = {
      ...purchase,
      ...rest,
      ...windowsAt({ ...limits, credentialDaily: ownDaily }, spends, 0),
      kind,
      host: kind === 'x402' ? purchase.host : null,
      mandates: given ? [{ ...mandate, ...given, ...usedAt(spends, 0) }] : [],
    }
    return { facts, spends, fits: fitsOf(facts, spends) }
  })

/** Returns the time of a second in the stories. */
function at(second: number): Date {
  return new Date(noon.getTime() + second * 1000)
}

/** Returns the use of a mandate; a payment that leaves its day stays in its total. */
function usedAt(spends: Spend[], second: number) {
  const carried = spends.filter(({ level }) => level === 'mandate')
  const sum = (some: Spend[]) => some.reduce((total, { amount }) => total + amount, 0n)
  return {
    spentDayUsdMicros: sum(carried.filter(({ leaves }) => leaves > second)),
    spentTotalUsdMicros: sum(carried),
  }
}

type Limits = Record<(typeof windowNames)[number], bigint> & { credentialDaily: bigint | null }

function windowsAt(limits: Limits, spends: Spend[], second: number) {
  const windowOf = (limit: bigint, isCounted: (spend: Spend) => boolean) => ({
    limit,
    spent: spends
      .filter((spend) => spend.leaves > second && isCounted(spend))
      .reduce((sum, { amount }) => sum + amount, 0n),
    resetsAt: null,
  })
  const window = (name: (typeof windowNames)[number]) =>
    windowOf(
      limits[name],
      ({ level, isToPayee }) =>
        (counts[name] ?? level) === level && (name !== 'assertedNewRecipient' || isToPayee),
    )
  return {
    automaticDaily: window('automaticDaily'),
    assertedDaily: window('assertedDaily'),
    assertedNewRecipient: window('assertedNewRecipient'),
    dailySpendingCap: window('dailySpendingCap'),
    monthlySpendingCap: window('monthlySpendingCap'),
    credentialDaily:
      limits.credentialDaily === null
        ? null
        : windowOf(limits.credentialDaily, ({ isOwn }) => isOwn),
  }
}

const limitsIn = (facts: Facts): Limits => ({
  automaticDaily: facts.automaticDaily.limit,
  assertedDaily: facts.assertedDaily.limit,
  assertedNewRecipient: facts.assertedNewRecipient.limit,
  dailySpendingCap: facts.dailySpendingCap.limit,
  monthlySpendingCap: facts.monthlySpendingCap.limit,
  credentialDaily: facts.credentialDaily && facts.credentialDaily.limit,
})
const factsAt = ({ facts, spends }: Story, second: number): Facts => ({
  ...facts,
  ...windowsAt(limitsIn(facts), spends, second),
  mandates: facts.mandates.map((one) => ({ ...one, ...usedAt(spends, second) })),
  now: at(second),
})
const seconds = Array.from({ length: secondsMax + 1 }, (_, second) => second)
const passes = (facts: Facts) => decide(facts).verdict === 'allow'

function fitsOf(facts: Facts, spends: Spend[]): Fits {
  const firstAt = (isRoomy: (second: number) => boolean) => {
    const second = seconds.find(isRoomy)
    return second === undefined ? null : at(second)
  }
  const first = (name: (typeof windowNames)[number] | 'credentialDaily') =>
    firstAt((second) => {
      const window = windowsAt(limitsIn(facts), spends, second)[name]
      return window !== null && window.spent + facts.amountUsdMicros <= window.limit
    })
  const dayOf = ({ maxDayUsdMicros }: Mandate) =>
    firstAt((second) => {
      const { spentDayUsdMicros } = usedAt(spends, second)
      return (
        maxDayUsdMicros !== null && spentDayUsdMicros + facts.amountUsdMicros <= maxDayUsdMicros
      )
    })
  return {
    automaticDaily: first('automaticDaily'),
    assertedDaily: first('assertedDaily'),
    assertedNewRecipient: first('assertedNewRecipient'),
    dailySpendingCap: first('dailySpendingCap'),
    monthlySpendingCap: first('monthlySpendingCap'),
    credentialDaily: first('credentialDaily'),
    mandates: Object.fromEntries(facts.mandates.map((one) => [one.id, dayOf(one)])),
  }
}

const limitFields = {
  automatic_limit: 'automaticDaily',
  asserted_limit: 'assertedDaily',
  asserted_new_recipient_limit: 'assertedNewRecipient',
  daily_spending_cap: 'dailySpendingCap',
  monthly_spending_cap: 'monthlySpendingCap',
  credential_daily_cap: 'credentialDaily',
} as const

function raised(facts: Facts, limit: string, to: bigint): Facts {
  if (limit === 'credential_payment_cap') return { ...facts, credentialPaymentCap: to }
  const [, name] = Object.entries(limitFields).find(([code]) => code === limit) ?? []
  // If the cap is not set, no value of it would allow more.
  return name && facts[name] ? { ...facts, [name]: { ...facts[name], limit: to } } : facts
}

/** Slow twin, which tries every amount, every second and every value of a limit. */
function twin(given: Story): string[] {
  const { facts } = given
  const amounts = Array.from({ length: 9 }, (_, less) => facts.amountUsdMicros - BigInt(less + 1))
  const most = amounts.find((a) => a > 0n && passes({ ...facts, amountUsdMicros: a }))
  const second = seconds.find((at) => passes(factsAt(given, at)))
  const heights = Array.from({ length: 50 }, (_, height) => BigInt(height))
  const raises = limitCodes.flatMap((code) => {
    const least = heights.find((height) => passes(raised(facts, code, height)))
    return least === undefined ? [] : [`raise ${code} ${least}`]
  })
  return [
    ...(most === undefined ? [] : [`less ${most}`]),
    ...(second === undefined ? [] : [`wait ${second}`]),
    ...(isWorthMandate(facts) ? ['mandate'] : []),
    ...raises,
  ].toSorted()
}

/** Returns true for a trusted repeat purchase below the cap. */
function isWorthMandate({ kind, history: past, amountUsdMicros: price, ...facts }: Facts): boolean {
  const isBelow = ({ limit, spent }: Window) => spent + price <= limit
  const isTrusted =
    facts.verifiedWithMerchant && !facts.otherResource && facts.similarRecipient === null
  const isRepeated = kind === 'x402' && past.payees.length > 0
  return (
    isTrusted &&
    isRepeated &&
    isBelow(facts.dailySpendingCap) &&
    isBelow(facts.monthlySpendingCap) &&
    isBelow(facts.credentialDaily ?? facts.dailySpendingCap) &&
    price <= (facts.credentialPaymentCap ?? price)
  )
}

function told(change: Change): string {
  switch (change.change) {
    case 'pay_less':
      return `less ${change.usdMicros}`
    case 'wait':
      return `wait ${(change.until.getTime() - noon.getTime()) / 1000}`
    case 'raise_limit':
      return `raise ${change.limit} ${change.usdMicros}`
    case 'confirm_with_user':
      return 'confirm'
    case 'ask_owner_to_approve':
      return 'approve'
    case 'ask_owner_for_mandate':
      return 'mandate'
  }
}

const isApproval = ({ change }: Change) => change === 'ask_owner_to_approve'

const held = (check: (given: Story) => void) =>
  fc.assert(
    fc.property(
      story.filter(({ facts }) => !passes(facts)),
      check,
    ),
    { numRuns: casesOf(3_000) },
  )

test('the changes are those that trying everything finds, each the least that passes', () => {
  held((given) => {
    const changes = changesThatPass(given.facts, given.fits)
    const asIs = changes
      .filter((change) => !isApproval(change))
      .filter(({ userConfirmed }) => userConfirmed === given.facts.userConfirmed)
    expect(asIs.map(told).toSorted()).toEqual(twin(given))
  })
})

test('with the word of the user come only changes that it makes possible or better', () => {
  held((given) => {
    if (given.facts.userConfirmed) return
    const changes = changesThatPass(given.facts, given.fits)
    const confirmed = { ...given, facts: { ...given.facts, userConfirmed: true } }
    const added = changes.filter((change) => change.userConfirmed && !isApproval(change)).map(told)
    if (passes(confirmed.facts)) {
      expect(added).toEqual(['confirm'])
      return
    }

    const unconfirmed = twin(given)
    const known = new Set(unconfirmed.map((one) => one.replace(/ \d+$/, '')))
    const isBetter = (one: string) => !unconfirmed.includes(one)
    expect(added.filter((one) => !isBetter(one))).toEqual([])
    expect(twin(confirmed)).toEqual(expect.arrayContaining(added))
    const missing = twin(confirmed).filter((one) => !added.includes(one))
    expect(missing.filter((one) => !known.has(one.replace(/ \d+$/, '')))).toEqual([])
  })
})

test('the owner is to be asked where an approval passes and no word of the agent does', () => {
  held(({ facts, fits }) => {
    const confirmed = { ...facts, userConfirmed: true }
    const isNeeded = !passes(confirmed) && passes({ ...confirmed, ownerApproved: 'user_session' })
    expect(changesThatPass(facts, fits).some(isApproval)).toBe(isNeeded)
  })
})
