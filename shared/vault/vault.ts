/**
 * The vault: opens and seals entries and mails, and uses secrets where they belong. It alone has the
 * roots of their keys; the database tells sealed records to nobody else.
 */
import { openInbound } from '../mail/inbound.ts'
import { openMailbox } from '../mail/mailbox.ts'
import type { World } from '../world.ts'
import { openLoginLinks } from './login-link.ts'
import type { VaultPort } from './port.ts'
import { type Later, openRoom } from './room.ts'

/** Opens the vault over the world's database and root keys. */
export function openVault(world: World, later: Later = () => {}): VaultPort {
  const room = openRoom(world, later)
  return { ...openInbound(room), ...openMailbox(room), ...openLoginLinks(room) }
}
