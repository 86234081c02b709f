/**
 * The most that a key can move with nobody asked: what a thief of it would get. Pure. It counts the
 * automatic limit, the limit on the agent's word, the active mandates, the daily cap and the key's
 * own caps over rolling 24 hours, with what leaves them in time. It looks at no balance, so a wallet
 * may hold less, and it takes a thief to sell at every merchant that a mandate is for.
 */

/** Micro-USD that leave the windows after so many whole minutes; `own` of what this key moved. */
export type Leaving = Record<'automatic' | 'asserted' | 'total' | 'own', bigint> & {
  minutes: number
}

/** An active mandate and what is left of it, in micro-USD; null where it has no such cap. */
export type ExposedMandate = {
  expiresInMinutes: number
  maxPaymentUsdMicros: bigint
  maxDayUsdMicros: bigint | null
  leftTotalUsdMicros: bigint | null
  leftPayments: number | null
  /** What leaves its 24 hours after so many whole minutes. */
  leaving: readonly { minutes: number; usdMicros: bigint }[]
}

/** What the figure is taken from; limits in micro-USD. */
export type ExposureFacts = {
  frozen: boolean
  canPay: boolean
  /** Minutes that the key is still good for; null when it does not expire. */
  expiresInMinutes: number | null
  limits: { automatic: bigint; asserted: bigint; assertedNewRecipient: bigint; total: bigint }
  /** Of the key itself; null where it has no such cap. */
  caps: { payment: bigint | null; day: bigint | null }
  /** Of the account, and of this key. */
  recipientKnown: boolean
  deviceKnown: boolean
  leaving: readonly Leaving[]
  mandates: readonly ExposedMandate[]
}

/** What keeps the figure from being larger. */
export const bounds = [
  'account_frozen',
  'key_scope',
  'key_expiry',
  'automatic_limit',
  'asserted_limit',
  'asserted_new_recipient_limit',
  'mandate_limits',
  'daily_spending_cap',
  'credential_payment_cap',
  'credential_daily_cap',
] as const
/** One of them. */
export type Bound = (typeof bounds)[number]

/** A maximum and what sets it. */
export type Exposure = { usdMicros: bigint; boundBy: Bound[] }

const dayMinutes = 1440

/**
 * The most from now on and before `horizonMinutes` have passed. Windows of 24 hours that end with
 * the horizon cover it without a gap, none can hold more than its limits leave at its end, and who
 * pays as much as fits as early as it fits fills each of them: so their sum is reached and exact.
 * What all mandates together add is at most what their windows hold and at most what each of them
 * has left in all. One mandate that outlives the horizon and counts no payments reaches that too; of
 * several, or of others, the figure is an upper bound.
 */
export function exposureWithin(facts: ExposureFacts, horizonMinutes: number): Exposure {
  if (facts.frozen) return { usdMicros: 0n, boundBy: ['account_frozen'] }
  if (!facts.canPay) return { usdMicros: 0n, boundBy: ['key_scope'] }
  if (facts.caps.payment === 0n) return { usdMicros: 0n, boundBy: ['credential_payment_cap'] }
  const life = facts.expiresInMinutes ?? horizonMinutes
  const isCut = life < horizonMinutes
  const ends = windowEnds(isCut ? life : horizonMinutes)
  const together = inAll(ends.map((end) => fill(facts, end)))
  const alone = inAll(ends.map((end) => fill({ ...facts, mandates: [] }, end)))
  const mandated = sumOf(
    facts.mandates.map((one) => lifeOf(one, ends, facts.caps.payment) ?? together.usdMicros),
  )
  const isByLife = alone.usdMicros + mandated < together.usdMicros
  const boundBy = new Set<Bound>(isByLife ? [...alone.boundBy, 'mandate_limits'] : together.boundBy)
  if (isCut) boundBy.add('key_expiry')
  return {
    usdMicros: isByLife ? alone.usdMicros + mandated : together.usdMicros,
    boundBy: bounds.filter((bound) => boundBy.has(bound)),
  }
}

function windowEnds(horizonMinutes: number): number[] {
  const ends: number[] = []
  for (let end = horizonMinutes; end > 0; end -= dayMinutes) ends.push(end)
  return ends
}

function inAll(windows: Exposure[]): Exposure {
  return {
    usdMicros: sumOf(windows.map(({ usdMicros }) => usdMicros)),
    boundBy: windows.flatMap(({ boundBy }) => boundBy),
  }
}

/** What fits until just before `end` into the 24 hours that end there, present spending deducted. */
function fill(facts: ExposureFacts, end: number): Exposure {
  const { limits, leaving, caps } = facts
  const room = (limit: bigint, of: 'automatic' | 'asserted' | 'total' | 'own') =>
    leaving.reduce((left, one) => (one.minutes < end ? left : left - one[of]), limit)
  const ofAccount = positive(room(limits.total, 'total'))
  const own = caps.day === null ? ofAccount : positive(room(caps.day, 'own'))
  const total = own < ofAccount ? own : ofAccount
  // A small payment makes its recipient known, so beyond the first only the daily limit counts.
  const isWordGood = facts.recipientKnown || limits.assertedNewRecipient > 0n
  const asserted = isWordGood ? positive(room(limits.asserted, 'asserted')) : 0n
  // It makes the device known too, without which a mandate covers nothing.
  const isMadeKnown = asserted > 0n && total > 0n
  const isAutomatic = (facts.recipientKnown && facts.deviceKnown) || isMadeKnown
  const automatic = isAutomatic ? positive(room(limits.automatic, 'automatic')) : 0n
  const mandates = facts.deviceKnown || isMadeKnown ? facts.mandates : []
  const mandated = sumOf(mandates.map((mandate) => dayOf(mandate, end) ?? total))
  const usdMicros = automatic + asserted + mandated
  if (total <= usdMicros) {
    const boundBy: Bound = own < ofAccount ? 'credential_daily_cap' : 'daily_spending_cap'
    return { usdMicros: total, boundBy: [boundBy] }
  }
  const boundBy: Bound[] = [isWordGood ? 'asserted_limit' : 'asserted_new_recipient_limit']
  if (isAutomatic) boundBy.push('automatic_limit')
  if (mandates.length > 0) boundBy.push('mandate_limits')
  return { usdMicros, boundBy }
}

/** What a mandate's day lets through in the 24 hours before `end`; null where it has no such cap. */
function dayOf(mandate: ExposedMandate, end: number): bigint | null {
  const { expiresInMinutes, maxDayUsdMicros, leaving } = mandate
  if (expiresInMinutes <= 0 || expiresInMinutes <= end - dayMinutes) return 0n
  if (maxDayUsdMicros === null) return null
  const last = Math.min(end, expiresInMinutes)
  const counted = leaving.filter(({ minutes }) => minutes >= last)
  return positive(maxDayUsdMicros - sumOf(counted.map(({ usdMicros }) => usdMicros)))
}

/** What a mandate lets through in all of the windows; null where only caps beside it end it. */
function lifeOf(
  mandate: ExposedMandate,
  [horizon = 0]: readonly number[],
  paymentCap: bigint | null,
): bigint | null {
  const { maxPaymentUsdMicros, leftTotalUsdMicros, leftPayments } = mandate
  const isCapped = paymentCap !== null && paymentCap < maxPaymentUsdMicros
  const each = isCapped ? paymentCap : maxPaymentUsdMicros
  const ends = windowEnds(Math.min(horizon, mandate.expiresInMinutes))
  const days = ends.map((end) => dayOf(mandate, end))
  const most = [
    leftTotalUsdMicros,
    leftPayments === null ? null : BigInt(leftPayments) * each,
    days.includes(null) ? null : sumOf(days.map((day) => day ?? 0n)),
  ]
  return most.reduce((a, b) => (a === null || (b !== null && b < a) ? b : a), null)
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((sum, value) => sum + value, 0n)
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n
}
