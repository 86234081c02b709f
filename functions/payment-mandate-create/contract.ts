import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { mandateDigest, mandateFields } from '../../shared/contract/mandate.ts'
import { operation } from '../../shared/contract/operation.ts'

const capUsd = (what: string) => field.dollars.describe(`${what}, in US dollars.`)

/** Contract of `payment_mandate_create`: asks the owner for a mandate. */
export const paymentMandateCreate = operation({
  id: 'payment_mandate_create',
  method: 'POST',
  folder: 'payment-mandate-create',
  access: 'pay',
  mutates: true,
  gap: 'GAP_PAYMENT_MANDATE_V1',
  needs: ['MAILER', 'OUTBOX_KEY', 'CHAIN_RPC_URLS', 'ALLOW_LOOPBACK'],
  position: 120,
  summary: 'Asks the owner to let payments to one merchant pass within caps. It pays nothing.',
  request: z.strictObject({
    merchant_domain: form.words(512).describe('The exact host, such as shop.example.com.'),
    max_amount_per_payment_usd: capUsd('The most for one payment'),
    max_amount_per_day_usd: capUsd('The most in any 24 hours').optional(),
    max_total_usd: capUsd('The most over its whole life').optional(),
    max_payments: z.int().min(1).max(1_000_000).optional().describe('No more payments than this.'),
    ttl_seconds: z.int().min(60).max(7_776_000).describe('From now on; at most 90 days.'),
    include_subdomains: z.boolean().optional().describe('Also hosts below it; false when absent.'),
    chains: z
      .array(field.chainInput)
      .min(1)
      .max(32)
      .optional()
      .describe('The only chains; all when absent.'),
    tokens: z
      .array(field.tokenInput)
      .min(1)
      .max(32)
      .optional()
      .describe('The only tokens; all when absent.'),
    pay_to: z
      .array(form.words(64))
      .min(1)
      .max(20)
      .optional()
      .describe('The only addresses paid. Transfers are covered only with them.'),
  }),
  response: z.object({
    ...mandateFields,
    digest: mandateDigest,
  }),
  errors: [
    'merchant_refused',
    'unsupported_chain',
    'unsupported_token',
    'recipient_refused',
    'too_many_mandates',
  ],
})
