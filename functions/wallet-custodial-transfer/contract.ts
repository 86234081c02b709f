import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { operation } from '../../shared/contract/operation.ts'

export const walletCustodialTransfer = operation({
  id: 'wallet_custodial_transfer',
  method: 'POST',
  folder: 'wallet-custodial-transfer',
  access: 'pay',
  mutates: true,
  summary: 'Sends a stablecoin to a recipient, once the rules of the account are met.',
  request: z.strictObject({
    recipient: z.string().min(1).max(320).describe('Alias, alias@domain, or EIP-55 address.'),
    chain: field.chainInput,
    token: field.tokenInput,
    amount: field.amount,
    user_confirmed: field.userConfirmed.optional(),
    memo: z.string().max(280).optional().describe('For your own feed; it is not sent.'),
    transfer_id: z.uuid().optional().describe('Continues a transfer that awaited confirmation.'),
  }),
  response: z.object({
    transfer_id: z.uuid(),
    status: field.paymentStatus,
    requires_user_confirm: z.boolean(),
    reasons: field.reasons,
    summary: z.string().describe('One sentence to show to the user.'),
    ...field.whatWouldPass,
    confirmation: field.confirmation.optional(),
    chain: field.chain,
    token: z.string(),
    amount: z.string(),
    amount_atomic: field.amountAtomic,
    recipient: z.object({ address: z.string(), alias: z.string().optional() }),
    tx_hash: z.string().optional(),
    finality: field.finality.nullable(),
    consent_level: field.consentLevel.nullable(),
  }),
  errors: [
    'unsupported_chain',
    'unsupported_token',
    'recipient_not_found',
    'recipient_refused',
    'limit_exceeded',
    'insufficient_funds',
    'payment_not_found',
    'payment_closed',
    'terms_changed',
  ],
})
