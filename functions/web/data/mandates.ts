/** What the database tells of mandates. */
import * as z from 'zod'
import { bigintText, paymentRow, time } from '../../../shared/payments/payment.ts'
import type { MandateTerms } from '../../../shared/policy/mandate.ts'
import type { PastPayment } from '../../../shared/policy/rehearsal.ts'
import { hostOf } from '../../../shared/policy/merchant-host.ts'
import { passkeyRow } from './consent.ts'

export const statuses = [
  'pending_approval',
  'active',
  'suspended',
  'exhausted',
  'expired',
  'revoked',
  'declined',
] as const

/** As private.mandate_json makes it. */
const mandateRow = z.object({
  id: z.uuid(),
  number: z.string(),
  account: z.uuid(),
  status: z.enum(statuses),
  merchant_domain: z.string(),
  include_subdomains: z.boolean(),
  max_payment_usd_micros: bigintText,
  max_day_usd_micros: bigintText.nullable(),
  max_total_usd_micros: bigintText.nullable(),
  max_payments: z.int().nullable(),
  chains: z.array(z.int()).nullable(),
  tokens: z.array(z.string()).nullable(),
  pay_to: z.array(z.string()).nullable(),
  expires_at: time,
  decided_at: time.nullable(),
  revoked_at: time.nullable(),
  revoked_by: z.enum(['agent', 'owner']).nullable(),
  requested: z.object({}).nullable(),
  spent_day_usd_micros: bigintText,
  spent_total_usd_micros: bigintText,
  payments: z.int(),
  day_resets_at: time.nullable(),
})
export type Mandate = z.output<typeof mandateRow>

export const listedRow = z.object({ mandate_row: mandateRow })

const pastRow = z
  .object({
    at: time.transform((text) => new Date(text)),
    kind: z.enum(['transfer', 'x402']),
    state: z.string(),
    amount_usd_micros: bigintText,
    origin: z.string().nullable(),
    chain: z.int(),
    token: z.string(),
    payee: z.string(),
  })
  .transform(
    ({ amount_usd_micros: amountUsdMicros, origin, payee: payTo, ...rest }): PastPayment => ({
      ...rest,
      amountUsdMicros,
      payTo,
      host: origin === null ? null : hostOf(origin),
    }),
  )

/** One with what the owner decides from. */
export const openedRow = z.object({
  mandate_row: mandateRow,
  asked: z.object({
    label: z.string(),
    shown: z.string(),
    /** The first digits of the fingerprint. */
    device: z.string(),
    device_known: z.boolean(),
  }),
  consent: z.object({ level: z.enum(['user_session', 'user_passkey']), digest: z.string() }).nullable(),
  past: z.array(pastRow),
  daily_spending_cap_usd_micros: bigintText,
  passkeys: z.array(passkeyRow),
})
export type OpenedMandate = z.output<typeof openedRow>

export const paidRow = z.object({ payment_row: paymentRow, authorized_at: time, paid_by: z.string() })
export type Paid = z.output<typeof paidRow>

/** The terms as the rules of policy take them. */
export function termsOf(mandate: Mandate): MandateTerms {
  return {
    merchantDomain: mandate.merchant_domain,
    includeSubdomains: mandate.include_subdomains,
    maxPaymentUsdMicros: mandate.max_payment_usd_micros,
    maxDayUsdMicros: mandate.max_day_usd_micros,
    maxTotalUsdMicros: mandate.max_total_usd_micros,
    maxPayments: mandate.max_payments,
    chains: mandate.chains,
    tokens: mandate.tokens,
    payTo: mandate.pay_to,
    expiresAt: new Date(mandate.expires_at),
  }
}
