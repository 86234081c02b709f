import * as z from 'zod'
import type { Handler } from '../../shared/http/handler.ts'
import type { accountWebhookDelete } from './contract.ts'

const deletedRow = z.object({ deleted: z.boolean() })

export const run: Handler<typeof accountWebhookDelete> = async ({ webhook_id }, { db }) => {
  const gone = await db.one('delete_webhook', { webhook: webhook_id }, deletedRow)
  return { webhook_id, deleted: gone?.deleted ?? false }
}
