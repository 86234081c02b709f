/**
 * What a decision about a payment is taken from: plain data, read in one database call. All USD
 * figures are bigint micro-USD; windows are the rolling 24 hours.
 */
import type { CoverRequest, Mandate } from './mandate.ts'

/** Who stands behind a payment, weakest first (DESIGN section 4). */
export const consentLevels = [
  'none',
  'mandate',
  'agent_asserted',
  'user_session',
  'user_passkey',
] as const
/** One level; a later one of the list stands for more. */
export type ConsentLevel = (typeof consentLevels)[number]

/** A limit of the account and what of it is used, reserved amounts included. */
export type Window = { limit: bigint; spent: bigint; resetsAt: string | null }

/** What the owner's word stands for: a click in the session, or a passkey over the terms. */
export const ownersLevels = ['user_session', 'user_passkey'] as const satisfies ConsentLevel[]

/** Everything that `decide` looks at. */
export type Facts = CoverRequest & {
  automaticDaily: Window
  assertedDaily: Window
  dailySpendingCap: Window
  /** What an agent may pay on its word to this recipient while the owner does not know it. */
  assertedNewRecipient: Window
  /** What whoever pays may move by itself, whatever the consent; null where it has no such cap. */
  credentialPaymentCap: bigint | null
  credentialDaily: Window | null
  recipientKnown: boolean
  /** The agent's word that the user confirmed exactly this payment. */
  userConfirmed: boolean
  /** How the owner approved exactly these terms, having seen whatever speaks against them. */
  ownerApproved: (typeof ownersLevels)[number] | null
  /** The account has a passkey, so the owner's word is asked for over the terms. */
  hasPasskey: boolean
  /** Of the account; those that have nothing to do with the payment do no harm. */
  mandates: readonly Mandate[]
  now: Date
}
