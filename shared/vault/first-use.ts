/** Notice to the owner that a secret is used at a site, or read for it, for the first time. */
import { type OutboxMail, sealForOutbox } from '../mail/outbox.ts'
import { siteFirstUsed } from '../mail/vault-messages.ts'
import type { World } from '../world.ts'

/** Returns the notice, sealed for the outbox. */
export function firstUseMail(world: World, site: string): Promise<OutboxMail> {
  return sealForOutbox(world, siteFirstUsed(world.config.WEB_URL, { site, at: world.now() }))
}
