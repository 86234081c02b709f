import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { mandateFields } from '../../shared/contract/mandate.ts'
import { operation } from '../../shared/contract/operation.ts'

const line = z.object({
  payment_id: z.uuid().describe('For transfer_status, which proves it, and consent_receipt.'),
  kind: z.enum(['transfer', 'x402']),
  status: field.paymentStatus,
  finality: field.finality.nullable(),
  amount: form.decimal.describe('Decimal string in token units.'),
  amount_atomic: field.amountAtomic,
  counted_usd: field.usd.describe('What it uses of the caps; 0 once it was given back.'),
  chain: field.chain,
  token: form.token.describe('Symbol.'),
  pay_to: form.address,
  origin: form.url.nullable().describe('Null for a transfer.'),
  paid_by: form.words(256).describe('Label of the key that paid, or where the app is that did.'),
  authorized_at: field.time,
  settled_at: field.time.nullable(),
  tx_hash: form.chainHash.nullable(),
  block_number: form.digits.nullable(),
  explorer_url: form.url.nullable(),
  delivery: z
    .object({ kind: form.word, http_status: z.int().nullable() })
    .nullable()
    .describe("How the merchant answered the paid request: a merchant's word, and no proof."),
})

/** Contract of `payment_mandate_statement`: the payments under one mandate. */
export const paymentMandateStatement = operation({
  id: 'payment_mandate_statement',
  method: 'GET',
  folder: 'payment-mandate-statement',
  access: 'read',
  gap: 'GAP_PAYMENT_MANDATE_V1',
  position: 150,
  summary: 'Every payment under one mandate, with its receipt, and what the owner consented to.',
  request: z.strictObject({
    mandate_id: z.uuid().describe('From payment_mandate_create.'),
    limit: field.limit.optional(),
    cursor: z.uuid().optional().describe('The next_cursor of an earlier answer.'),
  }),
  response: z.object({
    mandate: z.object(mandateFields),
    consent: z
      .object({ level: field.ownersLevel, digest: form.sha256, decided_at: field.time })
      .nullable()
      .describe('Null while the owner has not approved it.'),
    payments: z.array(line).max(50).describe('The latest first.'),
    next_cursor: z.uuid().nullable().describe('Null: there are no more.'),
  }),
  errors: ['mandate_not_found'],
})
