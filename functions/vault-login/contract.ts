import * as z from 'zod'
import { operation } from '../../shared/contract/operation.ts'
import { credentialId } from '../../shared/contract/vault-entry.ts'
import { pageErrors, servedPage } from '../../shared/contract/vault-session.ts'
import { plainFields, sitePath } from '../../shared/vault/template.ts'

/** Contract of `vault_login`: signs in to a site by the form of its page. */
export const vaultLogin = operation({
  id: 'vault_login',
  method: 'POST',
  folder: 'vault-login',
  access: 'vault',
  mutates: true,
  gap: 'GAP_VAULT_V1',
  summary:
    'Signs in to a site by the form on its page: the service fetches it, fills it in, and keeps the cookies.',
  request: z.strictObject({
    credential_id: credentialId,
    path: sitePath.describe(
      'Of the page with the form, on the site of the entry. A plain one such as /login, without a query, needs no approval of the owner; others need it once.',
    ),
    fields: plainFields
      .optional()
      .describe(
        'Of the form by their names: boxes to tick, and choices among those that the page offers, such as ' +
          'remember. The rest is filled in or stays as the page has it.',
      ),
  }),
  response: servedPage,
  errors: ['credential_not_found', ...pageErrors],
})
