import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { mailDelivery } from '../../shared/contract/mail.ts'
import { operation } from '../../shared/contract/operation.ts'

export const mailSend = operation({
  id: 'mail_send',
  method: 'POST',
  folder: 'mail-send',
  access: 'pay',
  mutates: true,
  gap: 'GAP_MAIL_V1',
  summary: 'Sends a mail in plain text from the account’s own address, or answers one.',
  request: z.strictObject({
    to: z
      .array(field.email)
      .min(1)
      .max(10)
      .optional()
      .describe('Everyone sees all of them. Absent in an answer: whoever wrote.'),
    subject: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Absent in an answer: Re: its subject.'),
    text: z.string().min(1).max(50_000).describe('Plain text.'),
    reply_to_mail_id: z.uuid().optional().describe('The mail that this one answers.'),
  }),
  response: z.object({
    mail_id: z.uuid(),
    at: field.time,
    from: z.string(),
    subject: z.string(),
    deliveries: z.array(mailDelivery).describe('mail_read tells later what became of it.'),
  }),
  errors: ['mail_not_found', 'mail_refused', 'mail_limit_reached'],
})
