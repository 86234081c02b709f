/**
 * What a decision about a payment is taken from: plain data, read in one database call. All USD
 * figures are bigint micro-USD; windows are the rolling 24 hours.
 */

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

/** Everything that `decide` looks at. */
export type Facts = {
  amountUsdMicros: bigint
  automaticDaily: Window
  assertedDaily: Window
  dailySpendingCap: Window
  assertedNewRecipientLimit: bigint
  recipientKnown: boolean
  deviceKnown: boolean
  /** A known recipient whose address looks like this one: the mark of address poisoning. */
  similarRecipient: string | null
  /** The agent's word that the user confirmed exactly this payment. */
  userConfirmed: boolean
  /** The owner approved exactly these terms, having seen whatever speaks against them. */
  ownerApproved: boolean
}
