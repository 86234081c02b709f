/** The owner's own session, for changes to the ways of signing in. */
import type { CallerDatabase } from '../db/database.ts'
import type { SecurityEvent } from '../mail/deed.ts'
import type { Message } from '../mail/letter.ts'
import type { OutboxMail } from '../mail/outbox.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import type { Browser } from './new-session.ts'
import { securityEventOf } from './new-session.ts'

/** A session: its database, its account and the browser that uses it. */
export type OwnerSession = {
  world: World
  db: CallerDatabase
  account: { id: string; alias: string }
  browser: Browser
}

/** Seals a mail to the owner about a change made in this session. */
export function sealSessionNotice(
  { world, browser }: OwnerSession,
  message: (webUrl: string, deed: SecurityEvent) => Message,
): Promise<OutboxMail> {
  return sealForOutbox(world, message(world.config.WEB_URL, securityEventOf(world, browser)))
}
