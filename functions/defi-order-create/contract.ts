import * as z from 'zod'
import * as confirming from '../../shared/contract/confirming.ts'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation, transferNeeds } from '../../shared/contract/operation.ts'
import { order, source } from '../../shared/contract/yield.ts'

/** Contract of `defi_order_create`: orders a deposit into a vault, or a withdrawal from it. */
export const defiOrderCreate = operation({
  id: 'defi_order_create',
  method: 'POST',
  folder: 'defi-order-create',
  access: 'pay',
  mutates: true,
  gap: 'GAP_DEFI_AUTOMATION_V1',
  effects: ['destructive', 'outward'],
  needs: transferNeeds,
  position: 170,
  summary: 'Orders a deposit of USDC into a vault, or a withdrawal, once the rules are met.',
  request: z.strictObject({
    operation: z.enum(['deposit', 'withdraw']),
    chain: field.chainInput,
    vault: form.words(64).min(1).describe('Address, from defi_vaults_list.'),
    amount: z
      .string()
      .max(41)
      .regex(
        /^(all|\$?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?)$/,
        'a plain decimal such as 12.50, or all',
      )
      .describe(
        'USDC to pay in or to get; all for a whole position. A withdrawal needs 0.01 USDC.',
      ),
    max_slippage_bps: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe('Hundredths of a percent that the result may be worse; 50 when absent.'),
    user_confirmed: field.userConfirmed.optional(),
  }),
  response: z.object({
    order,
    source,
    requires_user_confirm: z.boolean(),
    reasons: confirming.reasons,
    ...confirming.whatWouldPass,
    confirmation: confirming.confirmation.optional(),
    next: confirming.next,
    covered_by: confirming.coveredBy.optional(),
  }),
  errors: [
    'unsupported_chain',
    'limit_exceeded',
    'insufficient_funds',
    'amount_too_small',
    'recipient_refused',
    'too_many_payments',
    'relay_limit_reached',
    'payment_not_found',
    'payment_closed',
    'consent_invalid',
    'terms_changed',
  ],
})
