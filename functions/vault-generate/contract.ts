import * as z from 'zod'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'
import * as entry from '../../shared/contract/vault-entry.ts'

/** Contract of `vault_generate`: draws a password that the caller never sees. */
export const vaultGenerate = operation({
  id: 'vault_generate',
  method: 'POST',
  folder: 'vault-generate',
  access: 'vault',
  mutates: true,
  gap: 'GAP_VAULT_V1',
  effects: ['destructive'],
  needs: ['VAULT'],
  position: 320,
  summary:
    'Draws a strong password and keeps it unseen; the one before stays as previous_password.',
  request: z
    .strictObject({
      site: entry.site.optional().describe('For a new login, or the one of this user name.'),
      username: entry.username.optional(),
      credential_id: entry.credentialId.optional().describe('In place of site and username.'),
      rules: form
        .words(1024)
        .optional()
        .describe('Rules of the site in the passwordrules language, as in its HTML.'),
      exclude: form.words(128).optional().describe('Characters that the site does not take.'),
      length: z.int().min(8).max(256).optional().describe('24 where the rules allow it.'),
    })
    .refine(
      ({ site, username, credential_id }) =>
        credential_id === undefined ? site !== undefined : (site ?? username) === undefined,
      'give either site or credential_id',
    ),
  response: z.object({
    ...entry.storedEntry,
    length: z.int().describe('Characters of the password.'),
  }),
  errors: [...entry.storeErrors, 'credential_not_found'],
})
