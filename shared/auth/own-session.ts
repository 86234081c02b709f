/** The owner in its session, for what it changes about how it signs in. */
import type { CallerDatabase } from '../db/database.ts'
import type { Deed } from '../mail/deed.ts'
import type { Message } from '../mail/letter.ts'
import type { SealedMail } from '../mail/outbox.ts'
import { sealMail } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import type { Browser } from './new-session.ts'
import { deedOf } from './new-session.ts'

/** The database of a session, whose account it is, and from where it is used. */
export type OwnSession = {
  world: World
  db: CallerDatabase
  account: { id: string; alias: string }
  browser: Browser
}

/** A mail to the owner about what is done in this session. */
export function notice(
  { world, browser }: OwnSession,
  message: (webUrl: string, deed: Deed) => Message,
): Promise<SealedMail> {
  return sealMail(world, message(world.config.WEB_URL, deedOf(world, browser)))
}
