import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { operation } from '../../shared/contract/operation.ts'
import { bounds } from '../../shared/policy/exposure.ts'

export const accountExposure = operation({
  id: 'account_exposure',
  method: 'GET',
  folder: 'account-exposure',
  access: 'read',
  summary: 'The most that this key can move without a human, by what the limits let through.',
  request: z.strictObject({}),
  response: z.object({
    as_of: field.time,
    horizons: z
      .array(
        z.object({
          hours: z.int(),
          total_usd: field.usd.describe(
            'New payments only. Bounded by limits, not by balances; what is signed and not settled may be released, so it takes nothing off. Under several mandates it may be less, never more.',
          ),
          by_rail: z
            .object({ transfer_usd: field.usd, x402_usd: field.usd })
            .describe('What each rail alone could move. They share limits: the total is no sum.'),
          bound_by: z
            .array(z.enum(bounds))
            .max(64)
            .describe('What keeps the total from being larger.'),
        }),
      )
      .max(16),
  }),
  errors: [],
})
