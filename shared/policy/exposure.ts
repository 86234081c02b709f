/**
 * The most that can leave with a key without asking anyone: what a thief of the key would get. Pure.
 * Everything signed and open may be executed on top of what the key can newly pay. New payments are bounded
 * by the automatic limit, the limit on the agent's word, the active mandates, unpaid approvals, the daily
 * cap and the key's own caps over rolling 24 hours, with the amounts that leave them in time. Balances are
 * not considered, so a wallet may hold less. The thief is assumed to sell at every merchant for which there
 * is a mandate.
 */
import type { Bound, ExposureFacts, Sums } from './exposure-facts.ts'
import { bounds } from './exposure-facts.ts'
import type { Source, Window } from './exposure-sources.ts'
import { approvedSources, flowInto, mandateSources } from './exposure-sources.ts'

/** A maximum and what sets it. */
export type Exposure = { usdMicros: bigint; boundBy: Bound[] }

/** Minutes of a window. */
const dayMinutes = 1440

/**
 * Returns the most that can leave from now until `horizonMinutes` have passed. Windows of 24 hours that end
 * with the horizon cover it without a gap. No window can hold more than its limits leave at its end, and a
 * thief who pays as much as fits as early as it fits fills each of them. Open payments leave and count for
 * a day from now on. If they were released instead, as much could be paid in their place and no more,
 * except that a mandate's total may then be used in a later window.
 *
 * The figure is reached if approved payments are small or fit as they are, mandates do not count payments,
 * and the key's daily cap counts what is open under them; otherwise it is an upper bound. Payments on the
 * agent's word to an unknown recipient are small, but a thief can use any number of addresses.
 */
export function exposureWithin(facts: ExposureFacts, horizonMinutes: number): Exposure {
  const boundBy = new Set<Bound>(facts.open.total > 0n ? ['open_signatures'] : [])
  const hindrance = hindranceOf(facts)
  let usdMicros = facts.open.total
  if (hindrance) boundBy.add(hindrance)
  else {
    const life = facts.expiresInMinutes ?? horizonMinutes
    if (life < horizonMinutes) boundBy.add('key_expiry')
    const paid = newWithin(facts, windowEnds(Math.min(life, horizonMinutes)))
    usdMicros += paid.usdMicros
    for (const bound of paid.boundBy) boundBy.add(bound)
  }
  return { usdMicros, boundBy: bounds.filter((bound) => boundBy.has(bound)) }
}

/** Returns why the key can pay nothing; undefined if it can pay. */
function hindranceOf({ frozen, canPay, caps }: ExposureFacts): Bound | undefined {
  if (frozen) return 'account_frozen'
  if (!canPay) return 'key_scope'
  return caps.payment === 0n ? 'credential_payment_cap' : undefined
}

/** Returns the ends of the windows. The first window ends first; it may have begun before now. */
function windowEnds(horizonMinutes: number): number[] {
  const ends: number[] = []
  for (let end = horizonMinutes; end > 0; end -= dayMinutes) ends.unshift(end)
  return ends
}

/** Returns what the key can newly pay. */
function newWithin(facts: ExposureFacts, ends: readonly number[]): Exposure {
  if (ends.length === 0) return { usdMicros: 0n, boundBy: [] }
  const windows = fillAll(facts, ends)
  const sources: Source[] = [
    ...mandateSources(facts.mandates, windows, facts.caps.payment),
    ...approvedSources(facts.approved, windows),
  ]
  const flow = flowInto(windows, sources)
  const boundBy = windows.flatMap((window, at) =>
    flow.isFull[at] ? [window.capBound] : [...window.limitBounds, ...suppliersOf(sources, at)],
  )
  const byLimits = windows.reduce((sum, { byLimits: usd }) => sum + usd, 0n)
  return { usdMicros: byLimits + flow.usdMicros - openUnderMandates(facts), boundBy }
}

const suppliersOf = (sources: readonly Source[], at: number): Bound[] =>
  sources.filter(({ perWindow }) => perWindow[at] !== 0n).map(({ bound }) => bound)

/** Returns the open amount under mandates, which counts in the first window unless it is released. */
const openUnderMandates = ({ mandates }: ExposureFacts): bigint =>
  mandates.reduce((sum, { openUsdMicros }) => sum + openUsdMicros, 0n)

/** A window with the amount that fits into both limits below the caps, and the bounds behind it. */
type Filled = Window & { byLimits: bigint; capBound: Bound; limitBounds: Bound[] }

function fillAll(facts: ExposureFacts, ends: readonly number[]): Filled[] {
  return ends.map((end) => {
    const window = { begin: end - dayMinutes, end, largest: largestIn(facts, end) }
    return { ...window, ...fill(facts, end) }
  })
}

/** Returns the room of both caps, as if open payments were released. */
function largestIn(facts: ExposureFacts, end: number): bigint {
  const { limits, caps } = facts
  const total = roomIn(facts, end, limits.total, 'total')
  const own = caps.day === null ? total : roomIn(facts, end, caps.day, 'own')
  return own < total ? own : total
}

type Fill = Omit<Filled, 'begin' | 'end' | 'largest'>

function fill(facts: ExposureFacts, end: number): Fill {
  const { limits, caps, open, recipientKnown } = facts
  const isOpenIn = end <= dayMinutes
  const left = (limit: bigint, of: keyof Sums) =>
    positive(roomIn(facts, end, limit, of) - (isOpenIn ? open[of] : 0n))
  const ofAccount = left(limits.total, 'total')
  const own = caps.day === null ? ofAccount : left(caps.day, 'own')
  const newly = own < ofAccount ? own : ofAccount
  const total = isOpenIn ? newly + openUnderMandates(facts) : newly
  const isWordGood = recipientKnown || limits.assertedNewRecipient > 0n
  const isAutomatic = recipientKnown && facts.deviceKnown
  const asserted = isWordGood ? left(limits.asserted, 'asserted') : 0n
  const automatic = isAutomatic ? left(limits.automatic, 'automatic') : 0n
  const byLimits = asserted + automatic < total ? asserted + automatic : total
  return {
    byLimits,
    beside: total - byLimits,
    capBound: own < ofAccount ? 'credential_daily_cap' : 'daily_spending_cap',
    limitBounds: [
      isWordGood ? 'asserted_limit' : 'asserted_new_recipient_limit',
      ...(isAutomatic ? (['automatic_limit'] as const) : []),
    ],
  }
}

/** Returns what a limit leaves at the end of a window; negative if the limit was lowered since. */
function roomIn({ leaving }: ExposureFacts, end: number, limit: bigint, of: keyof Sums): bigint {
  return leaving.reduce((room, one) => (one.minutes < end ? room : room - one[of]), limit)
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n
}
