import * as z from 'zod'
import * as confirming from '../../shared/contract/confirming.ts'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import { methods } from '../../shared/x402/challenge.ts'

/** Contract of `x402_payment_prepare`: freezes the terms of an HTTP 402 payment. */
export const x402PaymentPrepare = operation({
  id: 'x402_payment_prepare',
  method: 'POST',
  folder: 'x402-payment-prepare',
  access: 'pay',
  mutates: true,
  gap: 'GAP_X402_V1',
  effects: ['outward'],
  needs: ['MAILER', 'OUTBOX_KEY', 'CHAIN_RPC_URLS', 'EUR_USD_RATE', 'ALLOW_LOOPBACK'],
  position: 100,
  summary: 'Freezes the terms of an HTTP 402 payment and says whether it needs a confirmation.',
  request: z
    .strictObject({
      resource_url: form.words(4096).min(1),
      method: z.enum(methods).optional(),
      headers: z.record(form.words(128), form.words(4096)).optional(),
      body: form.words(65_536).optional(),
      body_base64: form.words(87_384).optional(),
      memo: field.memo.optional(),
      payment_required: form.words(32_768).optional().describe('The PAYMENT-REQUIRED header.'),
      www_authenticate: form.words(65_536).optional().describe('The WWW-Authenticate header.'),
      x402Version: z.unknown().optional(),
      accepts: z.unknown().optional(),
      resource: z.unknown().optional(),
      extensions: z.unknown().optional(),
      error: z.unknown().optional(),
    })
    .refine((given) => given.body === undefined || given.body_base64 === undefined, {
      message: 'give body or body_base64, not both',
    })
    .refine((given) => given.accepts === undefined || given.payment_required === undefined, {
      message: 'give the challenge once: as fields or as payment_required',
    }),
  response: z.object({
    attempt_id: z.uuid(),
    requires_user_confirm: z.boolean(),
    reasons: confirming.reasons,
    summary: form.words(8192),
    terms: z.object({
      protocol: z.enum(['x402', 'mpp']),
      version: z.int(),
      scheme: form
        .words(64)
        .describe('In upto the amount is the most; what is taken is told once it settled.'),
      transfer_method: z
        .enum(['eip3009', 'permit2'])
        .describe('A permit of permit2 cannot be cancelled by a freeze, and ends with its time.'),
      network: field.chain,
      token: form.token,
      token_address: form.address,
      amount: form.decimal,
      amount_atomic: field.amountAtomic,
      amount_usd: field.usd,
      pay_to: form.address,
      origin: form.url,
      method: form.word,
      valid_seconds: z.int(),
    }),
    covered_by: confirming.coveredBy.optional(),
    ...confirming.whatWouldPass,
    confirmation: confirming.confirmation.optional(),
    next: confirming.next,
    expires_at: field.time,
  }),
  errors: [
    'invalid_challenge',
    'unsupported_scheme',
    'no_payment_required',
    'resource_refused',
    'resource_unavailable',
    'recipient_refused',
    'limit_exceeded',
    'insufficient_funds',
    'too_many_payments',
  ],
})
