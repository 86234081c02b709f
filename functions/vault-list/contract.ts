import * as z from 'zod'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import { listedEntry, listRequest } from '../../shared/contract/vault-entry.ts'

/** Contract of `vault_list`: the logins that the caller may use, without their secrets. */
export const vaultList = operation({
  id: 'vault_list',
  method: 'GET',
  folder: 'vault-list',
  access: 'vault',
  gap: 'GAP_VAULT_V1',
  needs: ['ALLOW_LOOPBACK'],
  position: 290,
  summary: 'The logins that vault_login and vault_use can use, without their secrets.',
  request: z.strictObject(listRequest),
  response: z.object({
    credentials: z.array(z.object(listedEntry)).max(50),
    next_cursor: form.cursor.nullable(),
  }),
  errors: ['site_refused'],
})
