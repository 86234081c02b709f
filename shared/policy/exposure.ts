/**
 * The most that can leave with a key without asking anyone: what a thief of the key would get. Pure.
 * Everything signed and open may be executed on top of what the key can newly pay. New payments are bounded
 * by the automatic limit, the limit on the agent's word, the active mandates, unpaid approvals, the daily
 * cap and the key's own caps over rolling 24 hours, with the amounts that leave them in time. Balances are
 * not considered, so a wallet may hold less. The thief is assumed to sell at every merchant for which there
 * is a mandate.
 */

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
    const within = Math.min(life, horizonMinutes)
    const paid = withinMonth(facts, within, newWithin(facts, windowEnds(within)))
    usdMicros += paid.usdMicros
    for (const bound of paid.boundBy) boundBy.add(bound)
  }
  return { usdMicros, boundBy: bounds.filter((bound) => boundBy.has(bound)) }
}

/** Bounds new payments by the month's cap; what is open counts in it, and a horizon is shorter than a month. */
function withinMonth(facts: ExposureFacts, horizonMinutes: number, paid: Exposure): Exposure {
  const room = roomIn(facts, horizonMinutes, facts.limits.month, 'month') - facts.open.month
  return paid.usdMicros <= room
    ? paid
    : { usdMicros: positive(room), boundBy: ['monthly_spending_cap'] }
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

/** 24 hours: the room that the caps leave besides the limits, and the largest payment that may fit. */
type Window = {
  begin: number
  end: number
  beside: bigint
  largest: bigint
}

/** Maximum in total and in each window, in micro-USD; null if only other caps limit it. */
type Source = { bound: Bound; inAll: bigint | null; perWindow: readonly (bigint | null)[] }

/** Maximum number of sources; the rest are merged into one, which can only make the exposure larger. */
const sourcesMax = 64

/**
 * Returns the mandates that the key may use. An open payment under one leaves now; or it is released and
 * the mandate pays as much later, so that other payments fit into the first window.
 */
function mandateSources(
  mandates: readonly ExposedMandate[],
  windows: readonly Window[],
  paymentCap: bigint | null,
): Source[] {
  const sources = mandates.map((mandate) => ({
    bound: 'mandate_limits' as const,
    inAll: plus(maxTotalOf(mandate, paymentCap), mandate.openUsdMicros),
    perWindow: windows.map((window, at) => {
      const left = maxInWindowOf(mandate, window)
      return at === 0 ? plus(left, mandate.openUsdMicros) : left
    }),
  }))
  const few = sources.slice(0, sourcesMax)
  const rest = sources.slice(sourcesMax)
  return rest.length === 0 ? few : [...few, mergeSources(rest, windows)]
}

function mergeSources(sources: readonly Source[], windows: readonly Window[]): Source {
  return {
    bound: 'mandate_limits',
    inAll: sumOf(sources.map(({ inAll }) => inAll)),
    perWindow: windows.map((_, at) => sumOf(sources.map(({ perWindow }) => perWindow[at] ?? null))),
  }
}

/** Returns the approved payments, merged if they fit into the same windows before they expire. */
function approvedSources(approved: readonly Approved[], windows: readonly Window[]): Source[] {
  const byWindows = new Map<string, Source & { inAll: bigint }>()
  for (const one of approved) {
    const perWindow = windows.map((window) => (isPayableIn(one, window) ? null : 0n))
    const before = byWindows.get(perWindow.join())
    const inAll = (before?.inAll ?? 0n) + one.usdMicros
    byWindows.set(perWindow.join(), { bound: 'approved_payments', inAll, perWindow })
  }
  return [...byWindows.values()]
}

/** True if an approved payment may be paid in a window. */
function isPayableIn(
  { eachUsdMicros, expiresInMinutes }: Approved,
  { largest, begin }: Window,
): boolean {
  return eachUsdMicros <= largest && expiresInMinutes > begin
}

/** Returns what a mandate's day cap allows in a window; null if it has no such cap. */
function maxInWindowOf(
  { expiresInMinutes, maxDayUsdMicros, leaving }: ExposedMandate,
  { begin, end }: Window,
): bigint | null {
  if (expiresInMinutes <= 0 || expiresInMinutes <= begin) return 0n
  if (maxDayUsdMicros === null) return null
  const last = Math.min(end, expiresInMinutes)
  const counted = leaving.filter(({ minutes }) => minutes >= last)
  const left = counted.reduce((room, { usdMicros }) => room - usdMicros, maxDayUsdMicros)
  return left > 0n ? left : 0n
}

/** Returns what a mandate allows in total; null if only other caps limit it. */
function maxTotalOf(mandate: ExposedMandate, paymentCap: bigint | null): bigint | null {
  const { maxPaymentUsdMicros, leftTotalUsdMicros, leftPayments, regainedUsdMicros } = mandate
  if (leftPayments === null) return leftTotalUsdMicros
  const isCapped = paymentCap !== null && paymentCap < maxPaymentUsdMicros
  const each = isCapped ? paymentCap : maxPaymentUsdMicros
  const byCount = BigInt(leftPayments) * each + regainedUsdMicros
  return leftTotalUsdMicros !== null && leftTotalUsdMicros < byCount ? leftTotalUsdMicros : byCount
}

const plus = (value: bigint | null, more: bigint) => (value === null ? null : value + more)

/** Amount of the flow, and the windows that it fills. */
type Flow = { usdMicros: bigint; isFull: readonly boolean[] }

/**
 * Returns the most that the sources can bring into the room that the windows have besides the limits. It is
 * the minimum cut (Ford and Fulkerson): some windows are full, and each source brings what it has into the
 * others. A week has seven windows, so there are 128 cuts.
 */
function flowInto(windows: readonly Window[], sources: readonly Source[]): Flow {
  let least: Flow | undefined
  for (let cut = 2 ** windows.length - 1; cut >= 0; cut -= 1) {
    const isFull = windows.map((_, at) => ((cut >> at) & 1) === 1)
    const full = windows.filter((_, at) => isFull[at]).map(({ beside }) => beside)
    const usdMicros = sumOf([...full, ...sources.map((source) => supplyOf(source, isFull))])
    if (usdMicros === null || (least && usdMicros >= least.usdMicros)) continue
    least = { usdMicros, isFull }
  }
  return least ?? { usdMicros: 0n, isFull: [] }
}

/** Returns what one source brings into the windows that are not full. */
function supplyOf({ inAll, perWindow }: Source, isFull: readonly boolean[]): bigint | null {
  const brought = sumOf(perWindow.filter((_, at) => !isFull[at]))
  return inAll === null || (brought !== null && brought < inAll) ? brought : inAll
}

/** Adds values; null if one of them is unlimited. */
function sumOf(values: readonly (bigint | null)[]): bigint | null {
  let sum = 0n
  for (const value of values) {
    if (value === null) return null
    sum += value
  }
  return sum
}

/** Micro-USD by the limits that they count against. */
type Sums = Record<'automatic' | 'asserted' | 'total' | 'own' | 'month', bigint>

/** Micro-USD that leave the windows after so many whole minutes; `own` is what this key moved. */
export type Leaving = Sums & { minutes: number }

/** An active mandate and its remaining amounts in micro-USD; null if it has no such cap. */
export type ExposedMandate = {
  expiresInMinutes: number
  maxPaymentUsdMicros: bigint
  maxDayUsdMicros: bigint | null
  leftTotalUsdMicros: bigint | null
  leftPayments: number | null
  /** Amount by which its open payments could grow if each were released and paid again. */
  regainedUsdMicros: bigint
  /** Open payments under it; the remaining amounts and `leaving` count them as used. */
  openUsdMicros: bigint
  /** Amounts that leave its 24 hours after so many whole minutes. */
  leaving: readonly { minutes: number; usdMicros: bigint }[]
}

/** Unpaid payments of one amount that the owner approved and that this key may pay. */
type Approved = {
  /** Minutes until they can no longer be paid. */
  expiresInMinutes: number
  eachUsdMicros: bigint
  usdMicros: bigint
}

/** Facts from which the exposure is computed; limits in micro-USD. */
export type ExposureFacts = {
  frozen: boolean
  canPay: boolean
  /** Minutes until the key expires; null if it does not expire. */
  expiresInMinutes: number | null
  limits: Record<'automatic' | 'asserted' | 'assertedNewRecipient' | 'total' | 'month', bigint>
  /** Caps of the key itself; null if it has no such cap. */
  caps: { payment: bigint | null; day: bigint | null }
  /** True if the account has a known recipient; `deviceKnown`: if this key has a known device. */
  recipientKnown: boolean
  deviceKnown: boolean
  /** Signed payments that the chain could still execute. */
  open: Sums
  /** Settled payments. */
  leaving: readonly Leaving[]
  approved: readonly Approved[]
  mandates: readonly ExposedMandate[]
}

/** Parts of the exposure, and limits that keep it from being larger. */
export const bounds = [
  'account_frozen',
  'key_scope',
  'key_expiry',
  'automatic_limit',
  'asserted_limit',
  'asserted_new_recipient_limit',
  'mandate_limits',
  'approved_payments',
  'daily_spending_cap',
  'monthly_spending_cap',
  'credential_payment_cap',
  'credential_daily_cap',
  'open_signatures',
] as const
/** One of these bounds. */
type Bound = (typeof bounds)[number]
