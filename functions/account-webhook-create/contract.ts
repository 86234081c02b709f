import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `account_webhook_create`: has the events of the account sent to an address. */
export const accountWebhookCreate = operation({
  id: 'account_webhook_create',
  method: 'POST',
  folder: 'account-webhook-create',
  access: 'pay',
  mutates: true,
  effects: ['outward'],
  needs: ['MAILER', 'OUTBOX_KEY', 'ALLOW_LOOPBACK'],
  position: 231,
  summary: 'Has the events of the account sent to an https address, signed by Standard Webhooks.',
  request: z.strictObject({
    url: z.url().max(2048).describe('https address that answers 2xx within 5 seconds.'),
  }),
  response: z.object({
    webhook_id: z.uuid(),
    url: form.url,
    secret: form.words(128).describe('Verifies the signatures; shown this once.'),
    created_at: field.time,
  }),
  errors: ['webhook_refused', 'too_many_webhooks'],
})
