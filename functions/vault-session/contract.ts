import * as z from 'zod'
import { operation } from '../../shared/contract/operation.ts'
import { pageErrors, servedPage } from '../../shared/contract/vault-session.ts'
import { plainFields, sitePath } from '../../shared/vault/inject.ts'

/** Contract of `vault_session`: continues a session that `vault_login` began. */
export const vaultSession = operation({
  id: 'vault_session',
  method: 'POST',
  folder: 'vault-session',
  access: 'vault',
  mutates: true,
  gap: 'GAP_VAULT_V1',
  effects: ['destructive', 'outward'],
  needs: ['VAULT'],
  position: 360,
  summary: 'Goes on in a session of vault_login: opens a page, or sends a form of the last one.',
  request: z
    .strictObject({
      session: z.uuid().describe('From vault_login.'),
      path: sitePath.optional().describe('Of a page to open, in place of a form to send.'),
      form: z
        .int()
        .min(0)
        .max(63)
        .optional()
        .describe('Form of the last page, from 0; without it, the one that asks for secret.'),
      fields: plainFields
        .optional()
        .describe('Ordinary fields of the form by name. Beside a code only boxes.'),
      secret: z
        .string()
        .max(19)
        .regex(/^(password|totp|mail\.c_[0-9a-z]{12})$/, 'password, totp or mail.HANDLE')
        .optional()
        .describe(
          'For the field that asks for it, or a sign-in link of a mail to open; password if this key made it.',
        ),
    })
    .refine(
      ({ path, form, fields, secret }) =>
        path === undefined
          ? (form ?? secret) !== undefined
          : (form ?? fields ?? secret) === undefined,
      'give path, or form or secret',
    ),
  response: servedPage,
  errors: [
    'session_not_found',
    'credential_not_found',
    ...pageErrors,
    'code_not_found',
    'code_not_for_site',
    'code_needs_owner',
  ],
})
