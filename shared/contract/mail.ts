/**
 * Form of a mail on the wire, in every answer. Text of others appears only in `untrusted`; codes and
 * sign-in links in it are handles, unless the owner lets agents read them.
 */
import * as z from 'zod'
import * as field from './fields.ts'
import * as form from './forms.ts'

/** Direction of a mail. */
export const mailDirection = z.enum(['in', 'out'])

const mailCode = z.object({
  handle: form.word.describe('Use it in vault_session or vault_use as mail.<handle>.'),
  kind: z.enum(['code', 'link']),
  hosts: z
    .array(form.words(255))
    .max(20)
    .describe('Of the sites at which it may be used; none: nowhere.'),
  expires_at: field.time,
  used: z.boolean(),
})

/** Delivery of a mail to one recipient. */
export const mailDelivery = z.object({
  to: form.words(1024),
  status: z
    .enum(['queued', 'sent', 'failed'])
    .describe('Sent: the next mail server took it. Failed: it was refused, or tried for hours.'),
  untrusted: z
    .object({ reason: field.untrustedText.describe('In the words of the server that refused it.') })
    .optional()
    .describe('Of one that failed.'),
})

/** Fields of a mail in a list. */
export const mailFields = {
  mail_id: z.uuid(),
  direction: mailDirection,
  at: field.time.describe('When it came in or was entered to go out.'),
  from: z.object({
    address: form.words(1024).describe('As the mail says.'),
    proven_domain: form
      .words(255)
      .optional()
      .describe('The domain that the sender is proven to be of.'),
    authenticated: z.boolean().describe('Whether anything proves the sender.'),
  }),
  untrusted: z.object({ subject: field.untrustedText }),
  size: z.int().describe('Bytes.'),
  attachment_count: z.int(),
  codes: z
    .array(mailCode)
    .max(10_000)
    .describe('One-time codes and sign-in links that were found in it, the likeliest first.'),
  unread: z.boolean().describe('Whether no agent has read it with mail_read.'),
  deliveries: z.array(mailDelivery).max(100).optional().describe('Of mail that went out.'),
}

/** Author of requested mails. */
export const mailFrom = z
  .string()
  .min(3)
  .max(254)
  .regex(/^([^\s@]*@)?[^\s@]+$/, 'an address or a domain')
  .refine(form.isVisible, 'an address or a domain')
  .describe('An address, or a domain with all below it.')

/** Words of a subject. */
export const mailSubject = form
  .words(200)
  .min(1)
  .describe('Words that are in the subject as you are shown it.')
