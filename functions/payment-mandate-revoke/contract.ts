import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `payment_mandate_revoke`: ends a mandate. */
export const paymentMandateRevoke = operation({
  id: 'payment_mandate_revoke',
  method: 'POST',
  folder: 'payment-mandate-revoke',
  access: 'pay',
  gap: 'GAP_PAYMENT_MANDATE_V1',
  effects: ['destructive', 'repeatable'],
  position: 140,
  summary: 'Ends a payment mandate now. Payments already signed stand; none can follow.',
  request: z.strictObject({ mandate_id: z.uuid().describe('From payment_mandate_create.') }),
  response: z.object({
    mandate_id: z.uuid(),
    status: z.enum(['revoked', 'declined']).describe('Declined: the owner had ended it before.'),
    revoked_at: field.time.nullable().describe('A second call answers the first time.'),
  }),
  errors: ['mandate_not_found'],
})
