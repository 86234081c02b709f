import * as z from 'zod'
import type { Handler } from '../../shared/http/handler.ts'
import { time } from '../../shared/money/row-fields.ts'
import type { accountWebhookList } from './contract.ts'

const webhookRow = z.object({
  id: z.uuid(),
  url: z.string(),
  created_at: time,
  waiting: z.int(),
  last_arrived_at: time.nullable(),
  failing_since: time.nullable(),
  failed_reason: z.string().nullable(),
  ended_at: time.nullable(),
})

export const run: Handler<typeof accountWebhookList> = async (_input, { db }) => {
  const rows = await db.many('list_webhooks', {}, webhookRow)
  return { webhooks: rows.map(({ id, ...shown }) => ({ webhook_id: id, ...shown })) }
}
