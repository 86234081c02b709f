import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `confirm_registration_code`: exchanges the code of a mail for a registration link. */
export const confirmRegistrationCode = operation({
  id: 'confirm_registration_code',
  method: 'POST',
  folder: 'confirm-registration-code',
  access: 'public',
  gap: 'GAP_SIGN_UP_V1',
  effects: ['adding'],
  needs: ['OTP_PEPPER'],
  position: 40,
  summary: 'Exchanges the code from the mail for a link, on which your user opens the account.',
  request: z.strictObject({
    email: field.email,
    code: z
      .string()
      .max(6)
      .regex(/^[0-9]{6}$/, 'the 6 digits from the mail')
      .describe('As your user tells it.'),
  }),
  response: z.object({
    registration_url: form.url.describe('For your user alone, to open in a browser; works once.'),
    expires_at: field.time,
  }),
  errors: ['code_not_accepted'],
})
