import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { operation } from '../../shared/contract/operation.ts'

const publicKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  alg: z.string(),
  use: z.string(),
  kid: z.string(),
})

export const consentReceipt = operation({
  id: 'consent_receipt',
  method: 'GET',
  folder: 'consent-receipt',
  access: 'read',
  gap: 'GAP_PAYMENT_MANDATE_V1',
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
    digest: z
      .string()
      .describe('SHA-256 of the terms, or of the batch that they were approved in.'),
    decided_at: field.time,
    terms: z.record(z.string(), z.unknown()).describe('What the owner saw, as it is digested.'),
    receipt: z.string().describe('JWS of type aoa-consent-receipt+jwt, signed with ES256.'),
    public_keys: z.object({ keys: z.array(publicKey) }).describe('JWKS to check it with.'),
    public_keys_url: z.url().describe('Where the same keys are published.'),
  }),
  errors: ['payment_not_found', 'mandate_not_found', 'consent_not_found', 'consent_invalid'],
})
