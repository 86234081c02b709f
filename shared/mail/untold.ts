/**
 * Enqueues one mail about the notices that were left out, for each owner an hour after the first of
 * them. The database counts what was left out (private.enqueue_mail).
 */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'
import type { World } from '../world.ts'
import { sealForOutbox } from './outbox.ts'
import { noticesLeftOut } from './untold-messages.ts'

/** Number of owners in one run. The next run continues. */
const accountsMax = 50

const suppressedRow = z.object({ told: z.uuid(), topics: z.record(z.string(), z.int()) })

/** Enqueues the mails that are due, each of them once. */
export async function enqueueSuppressedNotices(world: World, db: CallerDatabase): Promise<void> {
  const due = await db.many('mailer_untold', { accounts_max: accountsMax }, suppressedRow)
  for (const { told, topics } of due) {
    const mail = await sealForOutbox(world, noticesLeftOut(world.config.WEB_URL, topics))
    await db.run('mailer_tell', { told, topics, mail })
  }
}
