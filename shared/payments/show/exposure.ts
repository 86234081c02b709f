/** Parses the figures from which policy/exposure.ts computes the exposure of a key. */
import * as z from 'zod'
import { bigintText, time } from '../../money/row-fields.ts'
import type { ExposureFacts } from '../../policy/exposure.ts'

const sums = {
  automatic: bigintText,
  asserted: bigintText,
  total: bigintText,
  own: bigintText,
  month: bigintText,
}

/** Row that private.key_exposure builds. */
export const exposureRow = z.object({
  at: time,
  frozen: z.boolean(),
  can_pay: z.boolean(),
  expires_in_minutes: z.int().nullable(),
  limits: z.object({
    automatic: bigintText,
    asserted: bigintText,
    asserted_new_recipient: bigintText,
    total: bigintText,
    month: bigintText,
  }),
  /** Sums that the chain could still execute; null if nothing is open. */
  open: z.object(sums).nullable(),
  approved: z.array(
    z.object({
      kind: z.enum(['transfer', 'x402']),
      minutes: z.int(),
      each_usd: bigintText,
      usd: bigintText,
    }),
  ),
  caps: z.object({ payment: bigintText.nullable(), day: bigintText.nullable() }),
  recipient_known: z.boolean(),
  device_known: z.boolean(),
  leaving: z.array(z.object({ minutes: z.int(), ...sums })),
  mandates: z.array(
    z.object({
      expires_in_minutes: z.int(),
      max_payment: bigintText,
      max_day: bigintText.nullable(),
      left_total: bigintText.nullable(),
      left_payments: z.int().nullable(),
      regained: bigintText,
      open: bigintText,
      leaving: z.array(z.object({ minutes: z.int(), usd: bigintText })),
      is_pinned: z.boolean(),
    }),
  ),
})

/**
 * Converts the row to the facts of the policy, for new payments on one rail or on both. A mandate that
 * names no payee covers no transfer.
 */
export function exposureFacts(
  row: z.output<typeof exposureRow>,
  rail?: 'transfer' | 'x402',
): ExposureFacts {
  const mandates = row.mandates.filter((mandate) => rail !== 'transfer' || mandate.is_pinned)
  const { automatic, asserted, asserted_new_recipient, ...caps } = row.limits
  return {
    frozen: row.frozen,
    canPay: row.can_pay,
    expiresInMinutes: row.expires_in_minutes,
    limits: { automatic, asserted, assertedNewRecipient: asserted_new_recipient, ...caps },
    caps: row.caps,
    recipientKnown: row.recipient_known,
    deviceKnown: row.device_known,
    open: row.open ?? { automatic: 0n, asserted: 0n, total: 0n, own: 0n, month: 0n },
    leaving: row.leaving,
    approved: row.approved
      .filter(({ kind }) => rail === undefined || rail === kind)
      .map(({ minutes, each_usd, usd }) => ({
        expiresInMinutes: minutes,
        eachUsdMicros: each_usd,
        usdMicros: usd,
      })),
    mandates: mandates.map((mandate) => ({
      expiresInMinutes: mandate.expires_in_minutes,
      maxPaymentUsdMicros: mandate.max_payment,
      maxDayUsdMicros: mandate.max_day,
      leftTotalUsdMicros: mandate.left_total,
      leftPayments: mandate.left_payments,
      regainedUsdMicros: mandate.regained,
      openUsdMicros: mandate.open,
      leaving: mandate.leaving.map(({ minutes, usd }) => ({ minutes, usdMicros: usd })),
    })),
  }
}
