import * as z from 'zod'
import { fail } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import type { accountWebhookReplay } from './contract.ts'

const replayedRow = z.object({ waiting: z.int() })

export const run: Handler<typeof accountWebhookReplay> = async ({ webhook_id, since }, { db }) => {
  const replayed = await db.one('replay_webhook', { webhook: webhook_id, since }, replayedRow)
  if (!replayed) return fail('webhook_not_found')
  return { webhook_id, waiting: replayed.waiting }
}
