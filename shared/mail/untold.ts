/**
 * Puts one mail about notices that were left out into the outbox, for each owner an hour after the
 * first of them. What was left out is counted by the database (private.enqueue_mail).
 */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'
import type { World } from '../world.ts'
import { sealMail } from './outbox.ts'
import { noticesLeftOut } from './untold-messages.ts'

/** Owners of one run; the next one goes on. */
const accountsMax = 50

const untoldRow = z.object({ told: z.uuid(), topics: z.record(z.string(), z.int()) })

/** Enqueues what is due, once. */
export async function tellUntold(world: World, db: CallerDatabase): Promise<void> {
  const due = await db.many('mailer_untold', { accounts_max: accountsMax }, untoldRow)
  for (const { told, topics } of due) {
    const mail = await sealMail(world, noticesLeftOut(world.config.WEB_URL, topics))
    await db.run('mailer_tell', { told, topics, mail })
  }
}
