import * as z from 'zod'
import { time } from '../../shared/contract/fields.ts'
import { operation } from '../../shared/contract/operation.ts'
import { credentialId } from '../../shared/contract/vault-entry.ts'

/** Contract of `vault_delete`: deletes a login that this key made. */
export const vaultDelete = operation({
  id: 'vault_delete',
  method: 'POST',
  folder: 'vault-delete',
  access: 'vault',
  mutates: true,
  gap: 'GAP_VAULT_V1',
  effects: ['destructive', 'repeatable'],
  position: 330,
  summary: 'Deletes a login that this key made, for good.',
  request: z.strictObject({ credential_id: credentialId }),
  response: z.object({ credential_id: z.uuid(), deleted_at: time }),
  errors: ['credential_not_found', 'credential_protected'],
})
