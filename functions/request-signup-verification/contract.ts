import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `request_signup_verification`: mails a 6-digit code to begin an account. */
export const requestSignupVerification = operation({
  id: 'request_signup_verification',
  method: 'POST',
  folder: 'request-signup-verification',
  access: 'public',
  gap: 'GAP_SIGN_UP_V1',
  effects: ['outward', 'adding'],
  needs: ['MAILER', 'OTP_PEPPER', 'OUTBOX_KEY', 'TURNSTILE_SITE_KEY'],
  position: 30,
  summary: "Sends a 6-digit code to your user's mail address, to begin an account with it.",
  request: z.strictObject({
    email: field.email,
    alias: form.words(64).min(1).optional().describe('A wish; check_alias tells what is free.'),
  }),
  response: z.object({
    status: z.literal('sent').describe('Whether or not the address has an account already.'),
    expires_in_seconds: z.int(),
  }),
  errors: ['alias_unavailable', 'browser_only'],
})
