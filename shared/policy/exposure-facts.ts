/** Input of a key's exposure, and the names of its bounds. */

/** Micro-USD by the limits that they count against. */
export type Sums = Record<'automatic' | 'asserted' | 'total' | 'own', bigint>

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
export type Approved = {
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
  limits: { automatic: bigint; asserted: bigint; assertedNewRecipient: bigint; total: bigint }
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
  'credential_payment_cap',
  'credential_daily_cap',
  'open_signatures',
] as const
/** One of these bounds. */
export type Bound = (typeof bounds)[number]
