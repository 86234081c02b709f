/** Fields of answers about orders of automated yield. */
import * as z from 'zod'
import * as field from './fields.ts'
import * as form from './forms.ts'

/** Source of an answer about orders; it is said in each of them. */
export const source = z
  .literal('service_index')
  .describe('Index of this service, no complete proof on chain. transfer_status proves one order.')

/** Order as operations return it. */
export const order = z.object({
  order_id: z.uuid().describe('Also the transfer_id of its payment, for transfer_status.'),
  operation: z.enum(['deposit', 'withdraw']),
  chain: field.chain,
  vault: form.address,
  token: form.token,
  amount: form.words(64).describe('Decimal string in token units, or all.'),
  max_slippage_bps: z.int(),
  status: field.paymentStatus,
  finality: field.finality.nullable(),
  summary: form.words(8192).describe('One sentence to show to the user.'),
  created_at: field.time,
  consent_level: field.consentLevel.nullable(),
  tx_hash: form.chainHash.nullable(),
  block_number: form.digits.nullable(),
})

/** Events of orders and positions, in their order. */
export const orderEvents = [
  'created',
  'confirmed',
  'signed',
  'submitted',
  'included',
  'finalized',
  'failed',
  'yield_accrued',
] as const
