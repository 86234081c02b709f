import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `account_webhook_replay`: sends events again. */
export const accountWebhookReplay = operation({
  id: 'account_webhook_replay',
  method: 'POST',
  folder: 'account-webhook-replay',
  access: 'pay',
  effects: ['adding', 'outward'],
  position: 234,
  summary: 'Sends the events since a time again, with the same ids; a webhook that ended goes on.',
  request: z.strictObject({
    webhook_id: z.uuid().describe('From account_webhook_create.'),
    since: field.timeInput.describe('At most 30 days back.'),
  }),
  response: z.object({
    webhook_id: z.uuid(),
    waiting: z.int().describe('Events that are to be sent.'),
  }),
  errors: ['webhook_not_found', 'account_frozen'],
})
