import * as z from 'zod'
import { waitSecondsText } from '../../shared/contract/confirming.ts'
import * as field from '../../shared/contract/fields.ts'
import { mailFields, mailFrom, mailSubject } from '../../shared/contract/mail.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `mail_wait`: waits up to 25 seconds for a mail that matches. */
export const mailWait = operation({
  id: 'mail_wait',
  method: 'GET',
  folder: 'mail-wait',
  access: 'read',
  gap: 'GAP_MAIL_V1',
  effects: ['outward'],
  needs: ['VAULT'],
  position: 390,
  summary: 'Waits up to 25 seconds for a mail to come in and answers it as soon as it is there.',
  request: z.strictObject({
    timeout_seconds: waitSecondsText.describe('0 to 25; 25 when absent.'),
    from: mailFrom.optional(),
    subject: mailSubject.optional(),
    since: field.timeInput
      .optional()
      .describe('Mail that came since then counts too, at most a day back.'),
  }),
  response: z.object({
    mail: z.object(mailFields).nullable().describe('Null: none came; call again to go on.'),
  }),
  errors: [],
})
