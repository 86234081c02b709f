/** What the exposure of a key is worked out from, and what it names as its bounds. */

/** Micro-USD by the limits that they count against. */
export type Sums = Record<'automatic' | 'asserted' | 'total' | 'own', bigint>

/** Micro-USD that leave the windows after so many whole minutes; `own` of what this key moved. */
export type Leaving = Sums & { minutes: number }

/** An active mandate and what is left of it, in micro-USD; null where it has no such cap. */
export type ExposedMandate = {
  expiresInMinutes: number
  maxPaymentUsdMicros: bigint
  maxDayUsdMicros: bigint | null
  leftTotalUsdMicros: bigint | null
  leftPayments: number | null
  /** By how much more its open payments could be if each of them were released and paid anew. */
  regainedUsdMicros: bigint
  /** What is open under it, which is used up in what is left and in `leaving`. */
  openUsdMicros: bigint
  /** What leaves its 24 hours after so many whole minutes. */
  leaving: readonly { minutes: number; usdMicros: bigint }[]
}

/** Payments of one amount that the owner approved, that nobody has paid and that this key may pay. */
export type Approved = {
  /** Until when they can be paid. */
  expiresInMinutes: number
  eachUsdMicros: bigint
  usdMicros: bigint
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
  /** Whether the owner knows any, of the account and of this key. */
  recipientKnown: boolean
  deviceKnown: boolean
  /** What the chain could still execute. */
  open: Sums
  /** What has settled. */
  leaving: readonly Leaving[]
  approved: readonly Approved[]
  mandates: readonly ExposedMandate[]
}

/** What the figure is made of, and what keeps it from being larger. */
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
  'credential_payment_cap',
  'credential_daily_cap',
  'open_signatures',
] as const
/** One of them. */
export type Bound = (typeof bounds)[number]
