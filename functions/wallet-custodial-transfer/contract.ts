import * as z from 'zod'
import * as confirming from '../../shared/contract/confirming.ts'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation, transferNeeds } from '../../shared/contract/operation.ts'

/** Contract of `wallet_custodial_transfer`: sends a stablecoin to a recipient. */
export const walletCustodialTransfer = operation({
  id: 'wallet_custodial_transfer',
  method: 'POST',
  folder: 'wallet-custodial-transfer',
  access: 'pay',
  mutates: true,
  gap: 'GAP_TRANSFER_V1',
  effects: ['destructive', 'outward'],
  needs: transferNeeds,
  position: 80,
  summary: 'Sends a stablecoin to a recipient, once the rules of the account are met.',
  request: z.strictObject({
    recipient: form.words(320).min(1).describe('Alias, alias@domain, or EIP-55 address.'),
    chain: field.chainInput.optional(),
    token: field.tokenInput.optional(),
    amount: field.dollars,
    user_confirmed: field.userConfirmed.optional(),
    memo: field.memo.optional(),
    transfer_id: z.uuid().optional().describe('Continues a transfer that awaited confirmation.'),
  }),
  response: z.object({
    transfer_id: z.uuid(),
    status: field.paymentStatus,
    requires_user_confirm: z.boolean(),
    reasons: confirming.reasons,
    summary: form.words(8192).describe('One sentence to show to the user.'),
    ...confirming.whatWouldPass,
    confirmation: confirming.confirmation.optional(),
    next: confirming.next,
    chain: field.chain,
    token: form.token,
    amount: form.decimal,
    amount_atomic: field.amountAtomic,
    recipient: z.object({ address: form.address, alias: form.alias.optional() }),
    tx_hash: form.chainHash.optional(),
    finality: field.finality.nullable(),
    consent_level: field.consentLevel.nullable(),
    covered_by: confirming.coveredBy.optional(),
  }),
  errors: [
    'unsupported_chain',
    'unsupported_token',
    'recipient_not_found',
    'recipient_refused',
    'limit_exceeded',
    'insufficient_funds',
    'amount_too_small',
    'too_many_payments',
    'relay_limit_reached',
    'payment_not_found',
    'payment_closed',
    'consent_invalid',
    'terms_changed',
  ],
})
