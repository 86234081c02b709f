import * as z from 'zod'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import * as entry from '../../shared/contract/vault-entry.ts'

/** Contract of `store_site_credentials`: stores the login of a site in the vault, or changes it. */
export const storeSiteCredentials = operation({
  id: 'store_site_credentials',
  method: 'POST',
  folder: 'user-site-credentials',
  access: 'vault',
  mutates: true,
  gap: 'GAP_VAULT_V1',
  effects: ['destructive'],
  needs: ['VAULT'],
  position: 270,
  summary: 'Keeps the login of a site in the vault, or changes the one of that user name.',
  request: entry.storeRequest,
  response: z.object(entry.storedEntry),
  errors: entry.storeErrors,
})

/** Contract of `user_site_credentials`: lists the logins of the vault, or reads one with its secrets. */
export const userSiteCredentials = operation({
  id: 'user_site_credentials',
  method: 'GET',
  folder: 'user-site-credentials',
  access: 'read',
  gap: 'GAP_VAULT_V1',
  needs: ['VAULT', 'ALLOW_LOOPBACK'],
  position: 280,
  summary:
    'Lists logins without their secrets; one by its id with them, where the owner allows it.',
  request: z.strictObject({
    ...entry.listRequest,
    credential_id: entry.credentialId.optional().describe('One entry, whatever else is asked for.'),
  }),
  response: z.object({
    credentials: z
      .array(
        z.object({
          ...entry.listedEntry,
          secret: entry.readableSecret.optional(),
          secret_readable: z
            .boolean()
            .optional()
            .describe(
              'Of one entry. False: have it used by vault_login or vault_use, or ask the owner.',
            ),
        }),
      )
      .max(50),
    next_cursor: form.cursor.nullable(),
  }),
  errors: ['site_refused', 'credential_not_found', 'account_frozen'],
})
