/** Codes of the limits and caps, and the titles under which the owner finds them. */

/** Limits of the account and caps of the paying credential, by the names that reasons use. */
export const limitCodes = [
  'automatic_limit',
  'asserted_limit',
  'asserted_new_recipient_limit',
  'daily_spending_cap',
  'credential_payment_cap',
  'credential_daily_cap',
] as const
/** Code of one of them. */
export type LimitCode = (typeof limitCodes)[number]

/** Titles under which the owner finds the limits in the web app. */
export const limitTitles: Record<LimitCode, string> = {
  automatic_limit: 'Without asking',
  asserted_limit: 'Confirmed by the agent',
  asserted_new_recipient_limit: 'New recipients',
  daily_spending_cap: 'Everything together',
  credential_payment_cap: 'Most per payment',
  credential_daily_cap: 'Most in 24 hours',
}
