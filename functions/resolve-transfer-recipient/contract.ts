import * as z from 'zod'
import { chainInput } from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `resolve_transfer_recipient`: the address of a recipient, with warnings. */
export const resolveTransferRecipient = operation({
  id: 'resolve_transfer_recipient',
  method: 'POST',
  folder: 'resolve-transfer-recipient',
  access: 'read',
  gap: 'GAP_TRANSFER_V1',
  needs: ['CHAIN_RPC_URLS'],
  position: 70,
  summary:
    'Who is behind an alias, a mail address or an address, and what speaks against paying it.',
  request: z.strictObject({
    recipient: form.words(320).min(1).describe('Alias, alias@domain, or EIP-55 address.'),
    chain: chainInput.optional(),
  }),
  response: z.object({
    kind: z.enum(['alias', 'mail', 'address']),
    address: form.address,
    alias: form.alias.optional(),
    chain_family: z.literal('evm'),
    known: z.boolean(),
    is_contract: z.boolean().nullable().describe('Null when the chain did not answer.'),
    warnings: z.array(z.object({ code: form.word, message: form.words(4096) })).max(64),
    requires_user_confirm: z.boolean(),
  }),
  errors: ['recipient_not_found', 'recipient_refused', 'unsupported_chain'],
})
