/**
 * Input of a decision about a payment: plain data, read in one database call. All USD figures are bigint
 * micro-USD; windows are the rolling 24 hours unless they say otherwise.
 */
import type { CoverRequest, Mandate } from './mandate.ts'
import type { History } from './memory.ts'

/** Levels of consent behind a payment, weakest first (shared/README.md). */
export const consentLevels = [
  'none',
  'mandate',
  'agent_asserted',
  'user_session',
  'user_passkey',
] as const
/** One level; later ones in the list are stronger. */
export type ConsentLevel = (typeof consentLevels)[number]

/** A limit of the account and its used amount, including reservations. */
export type Window = { limit: bigint; spent: bigint; resetsAt: string | null }

/** Levels of the owner's word: a click in the session, or a passkey over the terms. */
export const ownersLevels = ['user_session', 'user_passkey'] as const satisfies ConsentLevel[]

/** Everything that `decide` uses. */
export type Facts = CoverRequest & {
  history: History
  automaticDaily: Window
  assertedDaily: Window
  dailySpendingCap: Window
  /** Cap of 30 days, counted to the end of the last day in UTC. */
  monthlySpendingCap: Window
  /** Limit on the agent's word for this recipient while the owner does not know it. */
  assertedNewRecipient: Window
  /** Caps of the paying credential, whatever the consent; null if it has no such cap. */
  credentialPaymentCap: bigint | null
  credentialDaily: Window | null
  recipientKnown: boolean
  /** The agent's statement that the user confirmed exactly this payment. */
  userConfirmed: boolean
  /** The owner's approval of exactly these terms, given with all objections in view. */
  ownerApproved: (typeof ownersLevels)[number] | null
  /** True if these terms let the payment pass the daily spending cap. */
  passesDailyCap: boolean
  /** True if the account has a passkey; then the owner must sign the terms with it. */
  hasPasskey: boolean
  /** Mandates of the account; those unrelated to the payment have no effect. */
  mandates: readonly Mandate[]
  now: Date
}

/** Limits of the account and caps of the paying credential, by the names that reasons use. */
export const limitCodes = [
  'automatic_limit',
  'asserted_limit',
  'asserted_new_recipient_limit',
  'daily_spending_cap',
  'monthly_spending_cap',
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
  daily_spending_cap: 'Daily spending cap',
  monthly_spending_cap: '30-day spending cap',
  credential_payment_cap: 'Most per payment',
  credential_daily_cap: 'Most in 24 hours',
}
