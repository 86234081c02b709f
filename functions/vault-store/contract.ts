import * as z from 'zod'
import { operation } from '../../shared/contract/operation.ts'
import { storedEntry, storeErrors, storeRequest } from '../../shared/contract/vault-entry.ts'

/** Contract of `vault_store`: stores a login, or changes one that this key made. */
export const vaultStore = operation({
  id: 'vault_store',
  method: 'POST',
  folder: 'vault-store',
  access: 'vault',
  mutates: true,
  gap: 'GAP_VAULT_V1',
  effects: ['destructive'],
  needs: ['VAULT'],
  position: 300,
  summary: 'Keeps the login of a site in the vault, or changes one that this key made.',
  request: storeRequest,
  response: z.object(storedEntry),
  errors: storeErrors,
})
