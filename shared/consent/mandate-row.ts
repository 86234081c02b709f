/**
 * Terms of a mandate as they leave the database, for code that works out what was consented to and what is
 * allowed. What was used of the mandate is in mandates/mandate-row.ts.
 */
import * as z from 'zod'
import type { MandateState, MandateTerms } from '../policy/mandate.ts'

const count = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform(BigInt)

const states = [
  'pending_approval',
  'active',
  'suspended',
  'declined',
  'revoked',
] as const satisfies MandateState[]
/** States of a mandate as callers see them; the last two follow from time and use. */
export const mandateStatuses = [...states, 'expired', 'exhausted'] as const

/** A part of what private.mandate_json returns. */
export const mandateTermsRow = z.object({
  id: z.uuid(),
  account: z.uuid(),
  /** The key or app that asked; its successors count as the same. */
  asked_by: z.uuid(),
  for_any_key: z.boolean(),
  device: z.string(),
  state: z.enum(states),
  merchant_domain: z.string(),
  include_subdomains: z.boolean(),
  max_payment_usd_micros: count,
  max_day_usd_micros: count.nullable(),
  max_total_usd_micros: count.nullable(),
  max_payments: z.int().nullable(),
  chains: z.array(z.int()).nullable(),
  tokens: z.array(z.string()).nullable(),
  pay_to: z.array(z.string()).nullable(),
  expires_at: z.iso.datetime({ offset: true }),
})

/** Converts the row into the policy's form of the terms. */
export function policyTerms(row: z.output<typeof mandateTermsRow>): MandateTerms {
  return {
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
  }
}
