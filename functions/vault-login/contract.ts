import * as z from 'zod'
import { operation } from '../../shared/contract/operation.ts'
import { credentialId } from '../../shared/contract/vault-entry.ts'
import { pageErrors, servedPage } from '../../shared/contract/vault-session.ts'
import { plainFields, sitePath } from '../../shared/vault/inject.ts'

/** Contract of `vault_login`: signs in to a site by the form of its page. */
export const vaultLogin = operation({
  id: 'vault_login',
  method: 'POST',
  folder: 'vault-login',
  access: 'vault',
  mutates: true,
  gap: 'GAP_VAULT_V1',
  effects: ['destructive', 'outward'],
  needs: ['VAULT'],
  position: 350,
  summary:
    'Signs in to a site by the form on its page: the service fetches it, fills it in, and keeps the cookies.',
  request: z.strictObject({
    credential_id: credentialId,
    path: sitePath.describe(
      'Of the page that asks for the user name or the password. The owner approves its form once.',
    ),
    fields: plainFields
      .optional()
      .describe('Boxes to tick, by name, such as remember. The rest is filled in.'),
  }),
  response: servedPage,
  errors: ['credential_not_found', ...pageErrors],
})
