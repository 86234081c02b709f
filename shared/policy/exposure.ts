/**
 * The most that a key can move with nobody asked: what a thief of it would get. Pure. It counts the
 * automatic limit, the limit on the agent's word and the daily cap over rolling 24 hours, with what
 * leaves them in time. It looks at no balance, so a wallet may hold less.
 */

/** Micro-USD that leave the windows after so many whole minutes. */
export type Leaving = { minutes: number; automatic: bigint; asserted: bigint; total: bigint }

/** What the figure is taken from; limits in micro-USD. */
export type ExposureFacts = {
  frozen: boolean
  canPay: boolean
  /** Minutes that the key is still good for; null when it does not expire. */
  expiresInMinutes: number | null
  limits: { automatic: bigint; asserted: bigint; assertedNewRecipient: bigint; total: bigint }
  /** Of the account, and of this key. */
  recipientKnown: boolean
  deviceKnown: boolean
  leaving: readonly Leaving[]
}

/** What keeps the figure from being larger. */
export const bounds = [
  'account_frozen',
  'key_scope',
  'key_expiry',
  'automatic_limit',
  'asserted_limit',
  'asserted_new_recipient_limit',
  'daily_spending_cap',
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
 */
export function exposureWithin(facts: ExposureFacts, horizonMinutes: number): Exposure {
  if (facts.frozen) return { usdMicros: 0n, boundBy: ['account_frozen'] }
  if (!facts.canPay) return { usdMicros: 0n, boundBy: ['key_scope'] }
  const life = facts.expiresInMinutes ?? horizonMinutes
  const isCut = life < horizonMinutes
  const boundBy = new Set<Bound>(isCut ? ['key_expiry'] : [])
  let usdMicros = 0n
  for (let end = isCut ? life : horizonMinutes; end > 0; end -= dayMinutes) {
    const filled = fill(facts, end)
    usdMicros += filled.usdMicros
    for (const bound of filled.boundBy) boundBy.add(bound)
  }
  return { usdMicros, boundBy: bounds.filter((bound) => boundBy.has(bound)) }
}

/** What fits until just before `end` into the 24 hours that end there, present spending deducted. */
function fill(facts: ExposureFacts, end: number): Exposure {
  const { limits, leaving } = facts
  const room = (limit: bigint, of: 'automatic' | 'asserted' | 'total') =>
    leaving.reduce((left, one) => (one.minutes < end ? left : left - one[of]), limit)
  const total = positive(room(limits.total, 'total'))
  // A small payment makes its recipient known, so beyond the first only the daily limit counts.
  const isWordGood = facts.recipientKnown || limits.assertedNewRecipient > 0n
  const asserted = isWordGood ? positive(room(limits.asserted, 'asserted')) : 0n
  const isAutomatic = (facts.recipientKnown && facts.deviceKnown) || (asserted > 0n && total > 0n)
  const automatic = isAutomatic ? positive(room(limits.automatic, 'automatic')) : 0n
  if (total <= automatic + asserted) return { usdMicros: total, boundBy: ['daily_spending_cap'] }
  const word: Bound = isWordGood ? 'asserted_limit' : 'asserted_new_recipient_limit'
  const boundBy: Bound[] = isAutomatic ? ['automatic_limit', word] : [word]
  return { usdMicros: automatic + asserted, boundBy }
}

function positive(value: bigint): bigint {
  return value > 0n ? value : 0n
}
