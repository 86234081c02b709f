import * as z from 'zod'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `account_webhook_delete`: ends a webhook. */
export const accountWebhookDelete = operation({
  id: 'account_webhook_delete',
  method: 'POST',
  folder: 'account-webhook-delete',
  access: 'pay',
  effects: ['destructive', 'repeatable'],
  position: 233,
  summary: 'Ends a webhook now; what has not arrived is not sent any more.',
  request: z.strictObject({ webhook_id: z.uuid().describe('From account_webhook_create.') }),
  response: z.object({
    webhook_id: z.uuid(),
    deleted: z.boolean().describe('False if there was none.'),
  }),
  errors: [],
})
