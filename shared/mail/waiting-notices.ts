/**
 * Enqueues one mail about the notices that wait beyond the hourly limit, for each account and topic, as soon
 * as the limit allows one. The database counts them (private.enqueue_mail).
 */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'
import type { World } from '../world.ts'
import { sealForOutbox } from './outbox.ts'
import { moreNotices } from './waiting-message.ts'

/** Number of mails in one run. The next run continues. */
const mailsMax = 50

const waitingRow = z.object({
  of_account: z.uuid(),
  topic: z.string(),
  notices: z.int(),
  since: z.string(),
})

/** Enqueues the mails that are due, each of them once. */
export async function enqueueWaitingNotices(world: World, db: CallerDatabase): Promise<void> {
  const due = await db.many('mailer_waiting', { mails_max: mailsMax }, waitingRow)
  for (const { of_account, topic, notices, since } of due) {
    const waiting = { topic, notices, since: new Date(since) }
    const mail = await sealForOutbox(world, moreNotices(world.config.WEB_URL, waiting))
    await db.run('mailer_send_waiting', { of_account, since, notices, mail })
  }
}
