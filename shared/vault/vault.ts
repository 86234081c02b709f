/**
 * The vault, which opens and seals entries and mails and uses secrets at their sites. Only the vault has
 * the roots of their keys, and the database gives sealed records to no other function.
 */
import { unbound } from '../db/database.ts'
import type { WaitUntil } from '../mail/outbox.ts'
import { listsOfMail } from '../mailbox/read/list.ts'
import { viewsOfMail } from '../mailbox/read/read.ts'
import { openInbound } from '../mailbox/receive/inbound.ts'
import { sendingOfMail } from '../mailbox/send.ts'
import type { World } from '../world.ts'
import { changesOfEntries } from './entries/change-entry.ts'
import { openLoginLinks } from './entries/login-link.ts'
import { viewsOfEntries } from './entries/open-entry.ts'
import type { VaultPort } from './port.ts'
import { openVaultContext } from './room.ts'
import { openSignIn } from './sign-in/sign-in.ts'
import { openLook } from './sign-in/visit.ts'
import { openUse } from './use.ts'

/**
 * Opens the vault over the world's database and root keys. `later` keeps the isolate alive for work that
 * the answer does not wait for, on platforms that would end it.
 */
export function openVault(world: World, later: WaitUntil = () => undefined): VaultPort {
  const room = openVaultContext(world, later)
  return {
    ...changesOfEntries(room),
    ...viewsOfEntries(room),
    ...openInbound(room),
    ...openLoginLinks(room),
    ...openUse(room),
    ...openSignIn(room),
    ...openLook(room),
    ...listsOfMail(room),
    ...viewsOfMail(room),
    ...sendingOfMail(room),
    ready: async () => {
      room.roots('vault')
      await unbound(world.db).run('vault_ready', {})
    },
  }
}
