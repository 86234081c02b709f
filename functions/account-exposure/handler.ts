import * as z from 'zod'
import type { Handler } from '../../shared/http/handler.ts'
import { formatUsd } from '../../shared/money/amount.ts'
import { bigintText, time } from '../../shared/payments/payment.ts'
import type { ExposureFacts } from '../../shared/policy/exposure.ts'
import { exposureWithin } from '../../shared/policy/exposure.ts'
import type { accountExposure } from './contract.ts'

const exposureRow = z.object({
  exposure: z.object({
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
    recipient_known: z.boolean(),
    device_known: z.boolean(),
    leaving: z.array(
      z.object({
        minutes: z.int(),
        automatic: bigintText,
        asserted: bigintText,
        total: bigintText,
      }),
    ),
  }),
})

const horizonsHours = [1, 24, 7 * 24]

export const run: Handler<typeof accountExposure> = async (_input, { db }) => {
  const row = await db.one('account_exposure', {}, exposureRow)
  if (!row) throw new Error('an admitted caller has no account')
  const facts = factsOf(row.exposure)
  return {
    as_of: row.exposure.at,
    horizons: horizonsHours.map((hours) => {
      const { usdMicros, boundBy } = exposureWithin(facts, hours * 60)
      const usd = formatUsd(usdMicros)
      return {
        hours,
        total_usd: usd,
        by_rail: { transfer_usd: usd, x402_usd: usd },
        bound_by: boundBy,
      }
    }),
  }
}

function factsOf(row: z.output<typeof exposureRow>['exposure']): ExposureFacts {
  const { automatic, asserted, asserted_new_recipient, total } = row.limits
  return {
    frozen: row.frozen,
    canPay: row.can_pay,
    expiresInMinutes: row.expires_in_minutes,
    limits: { automatic, asserted, assertedNewRecipient: asserted_new_recipient, total },
    recipientKnown: row.recipient_known,
    deviceKnown: row.device_known,
    leaving: row.leaving,
  }
}
