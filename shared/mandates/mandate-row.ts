/**
 * A mandate as it leaves the database (private.mandate_json), and the same in the words of the policy
 * that decides with it. Money is bigint micro-USD from here on.
 */
import * as z from 'zod'
import { addressSchema } from '../chains/hex.ts'
import { bigintText, time } from '../db/row-fields.ts'
import type { Mandate } from '../policy/mandate.ts'

/** What is stored, and what follows from time and use besides. */
export const mandateStates = [
  'pending_approval',
  'active',
  'suspended',
  'declined',
  'revoked',
] as const
/** Where a mandate stands for whoever asks. */
export const mandateStatuses = [...mandateStates, 'expired', 'exhausted'] as const

/** One row of private.mandates with what is used of it. */
export const mandateRow = z.object({
  id: z.uuid(),
  /** Orders the list. */
  number: z.string(),
  account: z.uuid(),
  state: z.enum(mandateStates),
  status: z.enum(mandateStatuses),
  merchant_domain: z.string(),
  include_subdomains: z.boolean(),
  max_payment_usd_micros: bigintText,
  max_day_usd_micros: bigintText.nullable(),
  max_total_usd_micros: bigintText.nullable(),
  max_payments: z.int().nullable(),
  chains: z.array(z.int()).nullable(),
  tokens: z.array(addressSchema).nullable(),
  pay_to: z.array(addressSchema).nullable(),
  created_at: time,
  expires_at: time,
  /** The caps as they were asked for, where the owner narrowed them. */
  requested: z.unknown(),
  decided_at: time.nullable(),
  revoked_at: time.nullable(),
  revoked_by: z.enum(['agent', 'owner']).nullable(),
  spent_day_usd_micros: bigintText,
  spent_total_usd_micros: bigintText,
  payments: z.int(),
  day_resets_at: time.nullable(),
})
/** A mandate as it was read: addresses checked, amounts as bigint, times in UTC. */
export type MandateRow = z.output<typeof mandateRow>

/** The facts of a mandate that decisions are taken from. */
export function mandateFacts(row: MandateRow): Mandate {
  return {
    id: row.id,
    state: row.state,
    merchantDomain: row.merchant_domain,
    includeSubdomains: row.include_subdomains,
    maxPaymentUsdMicros: row.max_payment_usd_micros,
    maxDayUsdMicros: row.max_day_usd_micros,
    maxTotalUsdMicros: row.max_total_usd_micros,
    maxPayments: row.max_payments,
    chains: row.chains,
    tokens: row.tokens,
    payTo: row.pay_to,
    expiresAt: new Date(row.expires_at),
    spentDayUsdMicros: row.spent_day_usd_micros,
    spentTotalUsdMicros: row.spent_total_usd_micros,
    payments: row.payments,
    dayResetsAt: row.day_resets_at === null ? null : new Date(row.day_resets_at),
  }
}
