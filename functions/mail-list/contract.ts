import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { mailDirection, mailFields, mailFrom, mailSubject } from '../../shared/contract/mail.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `mail_list`: the mails of the account, the newest first. */
export const mailList = operation({
  id: 'mail_list',
  method: 'GET',
  folder: 'mail-list',
  access: 'read',
  gap: 'GAP_MAIL_V1',
  effects: ['outward'],
  needs: ['VAULT'],
  position: 370,
  summary: 'Mails of the account, newest first: who wrote when, the subject, and codes by handle.',
  request: z.strictObject({
    limit: field.limit.optional(),
    cursor: z
      .string()
      .max(15)
      .regex(/^[0-9]{1,15}$/, 'the next_cursor of an earlier answer')
      .optional(),
    from: mailFrom.optional(),
    subject: mailSubject.optional(),
    since: field.timeInput.optional(),
    until: field.timeInput.optional(),
    unread: z.literal('true').optional().describe('Only mail that no agent has read.'),
    direction: mailDirection.optional(),
  }),
  response: z.object({
    mails: z.array(z.object(mailFields)).max(50),
    next_cursor: z
      .string()
      .max(64)
      .regex(/^[0-9]+$/)
      .nullable()
      .describe('Go on with it, even where a search by subject found nothing so far.'),
  }),
  errors: [],
})
