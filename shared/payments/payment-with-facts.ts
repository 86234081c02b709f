/**
 * Schemas of what the database returns when a payment is entered or continued: the payment, with the facts
 * for its decision.
 */
import * as z from 'zod'
import type { OpenSignature } from '../chains/evm/signature-use.ts'
import { addressSchema, wordSchema } from '../chains/hex.ts'
import { mandateFacts, mandateRow } from '../mandates/mandate-row.ts'
import { bigintText, time } from '../money/row-fields.ts'
import { ownersLevels } from '../policy/facts.ts'
import { payersUnder } from '../policy/mandate.ts'
import type { History } from '../policy/memory.ts'
import { paymentRow } from './payment.ts'

const window = z
  .object({ limit: bigintText, spent: bigintText, resets_at: time.nullable() })
  .transform(({ resets_at, ...rest }) => ({ ...rest, resetsAt: resets_at }))

/** Limits of an account, with their use. */
export const limitsRow = z.object({
  automatic_daily: window,
  asserted_daily: window,
  daily_spending_cap: window,
  monthly_spending_cap: window,
})

/** Caps of a key or of an app's grant, with their use; null if it has none. */
export const capsRow = z.object({ payment: bigintText.nullable(), daily: window.nullable() })

const history = z
  .object({
    payees: z.array(addressSchema),
    assets: z.array(z.object({ chain: z.int(), token: addressSchema })),
    highest_usd_micros: bigintText.nullable(),
  })
  .transform(
    ({ highest_usd_micros, ...rest }): History => ({
      ...rest,
      highestUsdMicros: highest_usd_micros,
    }),
  )

/** Transfers that relayers still carry for an account on one chain in the rolling 24 hours. */
const gasRow = z.object({
  left_calls: z.int(),
  /** Time at which the oldest of those carried leaves the 24 hours. */
  resets_at: time.nullable(),
  least_usd_micros: bigintText,
})

/** The same for each chain with a relayer in service. */
export const relayedRows = z.array(gasRow.extend({ chain: z.int(), calls_per_day: z.int() }))

/** Amount of one asset that a wallet's payments reserve. */
export const reservedRow = z.object({
  reserved_atomic: bigintText,
  /** Signatures that reserve it without being known to be in a block: the newest twenty. */
  open_signatures: z.array(
    z.object({ nonce: wordSchema, is_permit: z.boolean(), amount_atomic: bigintText }),
  ),
})

/** Facts that api.begin_payment and api.payment_facts return beside the payment. */
export const factsRow = z.object({
  version: z.int(),
  limits: limitsRow,
  /** Caps of the key or app that is about to pay. */
  caps: capsRow,
  /** True if the caller asked for it or pays it, or if the owner let any key pay it. */
  may_pay: z.boolean(),
  /** Payments to this recipient on the word of agents; limited while the owner does not know it. */
  asserted_new_recipient: window,
  recipient_known: z.boolean(),
  similar_recipient: z.string().nullable(),
  device_known: z.boolean(),
  /** True if an equal payment of the same key or app left a moment ago, without an idempotency key. */
  is_paid_already: z.boolean(),
  /** Owner's decision, and the digest of the terms that it was about. */
  approval: z
    .object({
      decision: z.enum(['approved', 'declined']),
      digest: z.string(),
      level: z.enum(ownersLevels),
    })
    .nullable(),
  has_passkey: z.boolean(),
  /** Mandates that name the merchant or the payee, in any state. */
  mandates: z.array(
    mandateRow
      .extend({ payer: z.enum(payersUnder) })
      .transform((row) => ({ ...mandateFacts(row), payer: row.payer })),
  ),
  /** Earlier payments for the same resource; empty, with null prices, if there were none. */
  history,
  ...reservedRow.shape,
  /** Balance that was seen when it was entered, less what left since; null if that is too long ago. */
  funds_atomic: bigintText.nullable(),
  /** True if a rule of the owner brings what the payment lacks. */
  is_refilled: z.boolean(),
  gas: gasRow,
  /** Unix seconds by the database's clock, since a worker's own may be wrong. */
  now: z.int(),
  /** Relayers in service. */
  gas_payers: z.array(z.object({ address: addressSchema, next_nonce: z.int() })),
})

/** Payment with its facts. */
export const paymentWithFactsRow = z.object({ payment_row: paymentRow, facts: factsRow })
/** Parsed answer of api.begin_payment and api.payment_facts. */
export type PaymentWithFacts = z.output<typeof paymentWithFactsRow>

/** Returns the signatures that reserve part of a wallet's balance of a token. */
export function openSignatures(
  { wallet, token }: Pick<PaymentWithFacts['payment_row'], 'wallet' | 'token'>,
  { open_signatures: open }: Pick<z.output<typeof reservedRow>, 'open_signatures'>,
): OpenSignature[] {
  return open.map(({ nonce, is_permit: isPermit, amount_atomic: amountAtomic }) => {
    return { wallet, token, nonce, isPermit, amountAtomic }
  })
}
