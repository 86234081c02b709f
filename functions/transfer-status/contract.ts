import * as z from 'zod'
import * as confirming from '../../shared/contract/confirming.ts'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import { transferProof } from '../../shared/contract/transfer-proof.ts'

/** Contract of `transfer_status`: the state of one payment of the account on its chain. */
export const transferStatus = operation({
  id: 'transfer_status',
  method: 'POST',
  folder: 'transfer-status',
  access: 'read',
  gap: 'GAP_TRANSFER_V1',
  needs: ['CHAIN_RPC_URLS'],
  position: 90,
  summary: "What the chain says now about one of the account's own payments.",
  request: z
    .strictObject({
      tx_hash: z
        .string()
        .max(66)
        .regex(/^0x[0-9a-fA-F]{64}$/)
        .optional(),
      chain: field.chainInput.optional(),
      transfer_id: z.uuid().optional().describe('A transfer_id or an attempt_id.'),
      wait_seconds: confirming.waitSeconds,
      include_proof: z.boolean().optional().describe('Proves that its log is in the block.'),
    })
    .refine((by) => (by.tx_hash === undefined) !== (by.transfer_id === undefined), {
      message: 'give either tx_hash or transfer_id',
    }),
  response: z.object({
    transfer_id: z.uuid(),
    status: field.paymentStatus,
    finality: field.finality.nullable(),
    chain: field.chain,
    tx_hash: form.chainHash.nullable(),
    block_number: form.digits.nullable(),
    block_hash: form.chainHash.nullable(),
    confirmations: z.int(),
    from: form.address,
    to: form.address,
    token: form.token,
    amount: form.decimal,
    amount_atomic: field.amountAtomic,
    consent_level: field.consentLevel.nullable(),
    confirmation: confirming.confirmation
      .optional()
      .describe('The one it waits for, or waited for.'),
    next: confirming.next,
    mandate_id: z.uuid().optional().describe('The mandate that carried it.'),
    proof: transferProof.nullable().describe('Null while the payment is not settled.'),
    explorer_url: form.url.nullable(),
  }),
  errors: ['payment_not_found', 'unsupported_chain'],
})
