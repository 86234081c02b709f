/**
 * The figures from which the exposure of a key is worked out, as SQL answers them. What they come to
 * is for policy/exposure.ts to say.
 */
import * as z from 'zod'
import { bigintText, time } from '../db/row-fields.ts'
import type { ExposureFacts } from '../policy/exposure.ts'

/** As private.key_exposure makes it. */
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
  }),
  caps: z.object({ payment: bigintText.nullable(), day: bigintText.nullable() }),
  recipient_known: z.boolean(),
  device_known: z.boolean(),
  leaving: z.array(
    z.object({
      minutes: z.int(),
      automatic: bigintText,
      asserted: bigintText,
      total: bigintText,
      own: bigintText,
    }),
  ),
  mandates: z.array(
    z.object({
      expires_in_minutes: z.int(),
      max_payment: bigintText,
      max_day: bigintText.nullable(),
      left_total: bigintText.nullable(),
      left_payments: z.int().nullable(),
      leaving: z.array(z.object({ minutes: z.int(), usd: bigintText })),
      is_pinned: z.boolean(),
    }),
  ),
})

/** The same in the words of the policy; a mandate that names no payee covers no transfer. */
export function exposureFacts(row: z.output<typeof exposureRow>, rail?: 'transfer'): ExposureFacts {
  const mandates = row.mandates.filter((mandate) => rail !== 'transfer' || mandate.is_pinned)
  const { automatic, asserted, asserted_new_recipient, total } = row.limits
  return {
    frozen: row.frozen,
    canPay: row.can_pay,
    expiresInMinutes: row.expires_in_minutes,
    limits: { automatic, asserted, assertedNewRecipient: asserted_new_recipient, total },
    caps: row.caps,
    recipientKnown: row.recipient_known,
    deviceKnown: row.device_known,
    leaving: row.leaving,
    mandates: mandates.map((mandate) => ({
      expiresInMinutes: mandate.expires_in_minutes,
      maxPaymentUsdMicros: mandate.max_payment,
      maxDayUsdMicros: mandate.max_day,
      leftTotalUsdMicros: mandate.left_total,
      leftPayments: mandate.left_payments,
      leaving: mandate.leaving.map(({ minutes, usd }) => ({ minutes, usdMicros: usd })),
    })),
  }
}
