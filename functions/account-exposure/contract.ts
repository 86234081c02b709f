import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { operation } from '../../shared/contract/operation.ts'
import { bounds } from '../../shared/policy/exposure.ts'

/** Contract of `account_exposure`: the most that could leave by this key without a person. */
export const accountExposure = operation({
  id: 'account_exposure',
  method: 'GET',
  folder: 'account-exposure',
  access: 'read',
  position: 220,
  summary:
    'The most that can leave with this key and without a human, by what the limits let through.',
  request: z.strictObject({}),
  response: z.object({
    as_of: field.time,
    horizons: z
      .array(
        z.object({
          hours: z.int(),
          total_usd: field.usd.describe(
            'All that is signed and open, whoever signed it, and what this key can newly pay: within limits and mandates, and what the owner approved. Bounded by limits, not by balances. Less may be possible, never more.',
          ),
          by_rail: z
            .object({ transfer_usd: field.usd, x402_usd: field.usd })
            .describe(
              'With new payments on that rail alone. They share limits: the total is no sum.',
            ),
          bound_by: z
            .array(z.enum(bounds))
            .max(64)
            .describe('What the total is made of, and what keeps it from being larger.'),
        }),
      )
      .max(16),
  }),
  errors: [],
})
