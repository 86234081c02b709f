import * as z from 'zod'
import * as field from '../../shared/contract/fields.ts'
import * as form from '../../shared/contract/forms.ts'
import { operation } from '../../shared/contract/operation.ts'

/** Contract of `account_webhook_list`: the webhooks of the account, and whether events arrive. */
export const accountWebhookList = operation({
  id: 'account_webhook_list',
  method: 'GET',
  folder: 'account-webhook-list',
  access: 'read',
  position: 232,
  summary: 'Webhooks of the account, and whether events arrive there.',
  request: z.strictObject({}),
  response: z.object({
    webhooks: z
      .array(
        z.object({
          webhook_id: z.uuid(),
          url: form.url,
          created_at: field.time,
          waiting: z.int().describe('Events that have not arrived.'),
          last_arrived_at: field.time.nullable(),
          failing_since: field.time.nullable(),
          failed_reason: form.words(300).nullable().describe('What the last try met.'),
          ended_at: field.time
            .nullable()
            .describe('Nothing is sent since; account_webhook_replay goes on.'),
        }),
      )
      .max(100),
  }),
  errors: [],
})
