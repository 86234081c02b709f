import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

const publicKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: form.word,
  y: form.word,
  alg: form.word,
  use: form.word,
  kid: form.words(256),
})

/** Contract of `consent_receipt`: the signed statement of what the owner consented to. */
export const consentReceipt = operation({
  id: 'consent_receipt',
  method: 'GET',
  folder: 'consent-receipt',
  access: 'read',
  gap: 'GAP_PAYMENT_MANDATE_V1',
  needs: ['RECEIPT_PRIVATE_KEY', 'RECEIPT_PUBLIC_KEYS'],
  position: 260,
  summary: 'A signed statement of what the owner consented to. It proves consent, and no payment.',
  request: z
    .strictObject({
      payment_id: z.uuid().optional().describe('A transfer_id or an attempt_id.'),
      mandate_id: z.uuid().optional().describe('From payment_mandate_create.'),
    })
    .refine((by) => (by.payment_id === undefined) !== (by.mandate_id === undefined), {
      message: 'give either payment_id or mandate_id',
    }),
  response: z.object({
    level: field.ownersLevel,
    digest: form.sha256.describe(
      'SHA-256 of the terms, or of the batch that they were approved in.',
    ),
    decided_at: field.time,
    terms: z.record(form.word, z.unknown()).describe('What the owner saw, as it is digested.'),
    receipt: form.words(65_536).describe('JWS of type aoa-consent-receipt+jwt, signed with ES256.'),
    public_keys: z.object({ keys: z.array(publicKey).max(100) }).describe('JWKS to check it with.'),
    public_keys_url: form.url.describe('Where the same keys are published.'),
  }),
  errors: ['payment_not_found', 'mandate_not_found', 'consent_not_found', 'consent_invalid'],
})
