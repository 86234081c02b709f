/**
 * Suggestions that would let a failed payment pass: the smallest change of one thing at a time. Pure. Each
 * change is tested with `decide` first, so every suggestion passes if nothing else is spent in the
 * meantime.
 */
import { decide, headroom } from './decide.ts'
import { type Facts, type LimitCode, limitCodes, type Window } from './facts.ts'
import { concerns, leftOf, type Mandate } from './mandate.ts'

const windowNames = [
  'automaticDaily',
  'assertedDaily',
  'assertedNewRecipient',
  'dailySpendingCap',
  'monthlySpendingCap',
  'credentialDaily',
] as const
type WindowName = (typeof windowNames)[number]

/**
 * Times when the amount fits into each window: now or earlier, later, or null for never. `mandates` has the
 * same for each mandate's day cap, by its id; a missing one is not waited for.
 */
export type Fits = Record<WindowName, Date | null> & {
  mandates?: Readonly<Record<string, Date | null>>
}

/** One change, and whether the user's confirmation must accompany it. */
export type Change = { userConfirmed: boolean } & (
  | { change: 'confirm_with_user' | 'ask_owner_to_approve' | 'ask_owner_for_mandate' }
  | { change: 'pay_less'; usdMicros: bigint }
  | { change: 'wait'; until: Date }
  | { change: 'raise_limit'; limit: LimitCode; usdMicros: bigint }
)

/** Returns the changes that would pass; those that need the user's confirmation only if it adds some. */
export function changesThatPass(every: Facts, fits: Fits): Change[] {
  const facts = { ...every, mandates: every.mandates.filter((one) => concerns(one, every)) }
  const without = changesAs(facts, fits)
  const confirmed = { ...facts, userConfirmed: true }
  if (isAllowed(confirmed))
    return [{ change: 'confirm_with_user', userConfirmed: true }, ...without]
  const approval = approvalOf(confirmed)
  if (facts.userConfirmed) return [...approval, ...without]
  const added = changesAs(confirmed, fits).filter(
    (one) => !without.some((other) => covers(other, one)),
  )
  return [...approval, ...without, ...added]
}

/** Suggests the owner's approval, used only if the agent's word is not enough. */
function approvalOf(confirmed: Facts): Change[] {
  const ownerApproved = confirmed.hasPasskey ? 'user_passkey' : 'user_session'
  return isAllowed({ ...confirmed, ownerApproved })
    ? [{ change: 'ask_owner_to_approve', userConfirmed: true }]
    : []
}

function changesAs(facts: Facts, fits: Fits): Change[] {
  const { userConfirmed } = facts
  const most = mostNow(facts)
  const until = soonest(facts, fits)
  return [
    ...(most === undefined
      ? []
      : [{ change: 'pay_less' as const, usdMicros: most, userConfirmed }]),
    ...(until === undefined ? [] : [{ change: 'wait' as const, until, userConfirmed }]),
    ...mandateFor(facts),
    ...raises(facts),
  ]
}

/** Suggests a mandate, but only for a repeated purchase: a first purchase shows no habit. */
function mandateFor(facts: Facts): Change[] {
  const { host, history, userConfirmed, amountUsdMicros } = facts
  if (host === null || history.payees.length === 0) return []
  const wanted: Mandate = {
    id: '',
    state: 'active',
    // The mandate would be for the asking key and this device.
    payer: 'asker',
    merchantDomain: host,
    includeSubdomains: false,
    maxPaymentUsdMicros: amountUsdMicros,
    maxDayUsdMicros: null,
    maxTotalUsdMicros: null,
    maxPayments: null,
    chains: null,
    tokens: null,
    payTo: null,
    expiresAt: new Date(facts.now.getTime() + 1),
    spentDayUsdMicros: 0n,
    spentTotalUsdMicros: 0n,
    payments: 0,
    dayResetsAt: null,
  }
  const decision = decide({ ...facts, mandates: [wanted] })
  return 'consentLevel' in decision && decision.consentLevel === 'mandate'
    ? [{ change: 'ask_owner_for_mandate', userConfirmed }]
    : []
}

/** Window of an absent cap; raising it can never help. */
const noWindow: Window = { limit: 0n, spent: 0n, resetsAt: null }

/** Returns the largest amount that passes now; only the ends of limits need to be tried. */
function mostNow(facts: Facts): bigint | undefined {
  const { highestUsdMicros } = facts.history
  const ends = [
    ...windowNames.map((name) => headroom(facts[name] ?? noWindow)),
    facts.credentialPaymentCap ?? 0n,
    ...(highestUsdMicros === null ? [] : [highestUsdMicros * 2n]),
    ...facts.mandates.flatMap((mandate) => {
      const { day, total } = leftOf(mandate)
      return [mandate.maxPaymentUsdMicros, day ?? 0n, total ?? 0n]
    }),
  ]
  return ends
    .filter((usdMicros) => usdMicros > 0n && usdMicros < facts.amountUsdMicros)
    .toSorted((a, b) => (a < b ? 1 : -1))
    .find((usdMicros) => isAllowed({ ...facts, amountUsdMicros: usdMicros }))
}

/** Returns the first time at which a window has room and all rules agree. */
function soonest(facts: Facts, fits: Fits): Date | undefined {
  return [...windowNames.map((name) => fits[name]), ...Object.values(fits.mandates ?? {})]
    .flatMap((time) => time ?? [])
    .toSorted((a, b) => a.getTime() - b.getTime())
    .find((time) => isAllowed(after(facts, fits, time)))
}

/** Returns the facts at a later time for this amount, if nothing else is spent. */
function after(facts: Facts, fits: Fits, time: Date): Facts {
  const { amountUsdMicros: amount } = facts
  const hasRoom = (fit: Date | null | undefined) => !!fit && fit <= time
  const at = (name: WindowName, { limit, spent, resetsAt }: Window) => ({
    limit,
    resetsAt,
    spent: hasRoom(fits[name]) ? limit - amount : spent,
  })
  const { automaticDaily, assertedDaily, assertedNewRecipient } = facts
  const { dailySpendingCap, monthlySpendingCap, credentialDaily } = facts
  const mandates = facts.mandates.map((mandate) => {
    const { id, maxDayUsdMicros: limit, spentDayUsdMicros: spent } = mandate
    const isRoomy = limit !== null && hasRoom(fits.mandates?.[id])
    return { ...mandate, spentDayUsdMicros: isRoomy ? limit - amount : spent }
  })
  return {
    ...facts,
    automaticDaily: at('automaticDaily', automaticDaily),
    assertedDaily: at('assertedDaily', assertedDaily),
    assertedNewRecipient: at('assertedNewRecipient', assertedNewRecipient),
    dailySpendingCap: at('dailySpendingCap', dailySpendingCap),
    monthlySpendingCap: at('monthlySpendingCap', monthlySpendingCap),
    credentialDaily: credentialDaily && at('credentialDaily', credentialDaily),
    mandates,
    now: time > facts.now ? time : facts.now,
  }
}

function raises(facts: Facts): Change[] {
  const { amountUsdMicros: amount, userConfirmed } = facts
  const raised = (name: WindowName) => {
    const window = facts[name] ?? noWindow
    const limit = window.spent + amount
    return { limit, given: { [name]: { ...window, limit } } }
  }
  const every = {
    automatic_limit: raised('automaticDaily'),
    asserted_limit: raised('assertedDaily'),
    asserted_new_recipient_limit: raised('assertedNewRecipient'),
    daily_spending_cap: raised('dailySpendingCap'),
    monthly_spending_cap: raised('monthlySpendingCap'),
    credential_payment_cap: { limit: amount, given: { credentialPaymentCap: amount } },
    credential_daily_cap: raised('credentialDaily'),
  }
  return limitCodes
    .filter((code) => isAllowed({ ...facts, ...every[code].given }))
    .map((limit) => ({
      change: 'raise_limit',
      limit,
      usdMicros: every[limit].limit,
      userConfirmed,
    }))
}

function isAllowed(facts: Facts): boolean {
  return decide(facts).verdict === 'allow'
}

/** True if a change without confirmation makes the same change with confirmation pointless. */
function covers(without: Change, confirmed: Change): boolean {
  if (without.change === 'pay_less' && confirmed.change === 'pay_less') {
    return without.usdMicros >= confirmed.usdMicros
  }
  if (without.change === 'wait' && confirmed.change === 'wait') {
    return without.until <= confirmed.until
  }
  if (without.change === 'raise_limit' && confirmed.change === 'raise_limit') {
    return without.limit === confirmed.limit
  }
  return without.change === confirmed.change
}
