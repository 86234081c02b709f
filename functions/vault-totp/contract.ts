import * as z from 'zod'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import { credentialId } from '../../shared/contract/vault-entry.ts'

/** Contract of `vault_totp`: the current one-time code of a login. */
export const vaultTotp = operation({
  id: 'vault_totp',
  method: 'POST',
  folder: 'vault-totp',
  access: 'vault',
  gap: 'GAP_VAULT_V1',
  needs: ['VAULT'],
  position: 310,
  summary: 'The one-time code of this moment for a login that has a TOTP secret.',
  request: z.strictObject({ credential_id: credentialId }),
  response: z.object({
    credential_id: z.uuid(),
    site: form.url,
    code: form.digits,
    seconds_left: z.int().describe('Ask again when it is over; the next code is another.'),
  }),
  errors: ['credential_not_found', 'credential_refused', 'account_frozen'],
})
