/** The notice to the owner that a secret goes to a site, or was read for one, for the first time. */
import { type SealedMail, sealMail } from '../mail/outbox.ts'
import { siteFirstUsed } from '../mail/vault-messages.ts'
import type { World } from '../world.ts'

/** The notice, sealed for the outbox. */
export function firstUseMail(world: World, site: string): Promise<SealedMail> {
  return sealMail(world, siteFirstUsed(world.config.WEB_URL, { site, at: world.now() }))
}
