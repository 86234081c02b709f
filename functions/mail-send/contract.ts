import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { mailDelivery } from '../../shared/contract/mail.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `mail_send`: sends a mail in plain text, or answers one. */
export const mailSend = operation({
  id: 'mail_send',
  method: 'POST',
  folder: 'mail-send',
  access: 'pay',
  mutates: true,
  gap: 'GAP_MAIL_V1',
  effects: ['destructive', 'outward'],
  needs: ['VAULT'],
  position: 400,
  summary: 'Sends a mail in plain text from the account’s own address, or answers one.',
  request: z.strictObject({
    to: z
      .array(field.email)
      .min(1)
      .max(10)
      .optional()
      .describe('Everyone sees all of them. Absent in an answer: whoever wrote.'),
    subject: form.words(200).min(1).optional().describe('Absent in an answer: Re: its subject.'),
    text: form.words(50_000).min(1).describe('Plain text.'),
    reply_to_mail_id: z.uuid().optional().describe('The mail that this one answers.'),
  }),
  response: z.object({
    mail_id: z.uuid(),
    at: field.time,
    from: form.mailAddress,
    subject: form.words(1024),
    deliveries: z.array(mailDelivery).max(100).describe('mail_read tells later what became of it.'),
  }),
  errors: ['mail_not_found', 'mail_refused', 'mail_limit_reached'],
})
