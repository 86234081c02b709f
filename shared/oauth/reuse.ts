/** Tells the owner that a code or token of an app was used twice, which ended the app's access. */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { appTokenReused } from '../mail/app-messages.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import type { World } from '../world.ts'

const appRow = z.object({ host: z.string() })

/** Puts the mail into the outbox, once for each grant; the activity feed has its item already. */
export async function notifyTokenReuse(world: World, ended: string): Promise<void> {
  const db = unbound(world.db)
  const app = await db.one('oauth_ended_app', { ended }, appRow)
  if (!app) return
  const mail = await sealForOutbox(world, appTokenReused(world.config.WEB_URL, app))
  await db.run('oauth_tell_owner', { ended, mail })
}
