/**
 * The vault: opens and seals entries and mails, and uses secrets where they belong. It alone has the
 * roots of their keys; the database tells sealed records to nobody else.
 */

import { unbound } from '../db/database.ts'
import type { Later } from '../mail/wake.ts'
import { openInbound } from '../mailbox/inbound.ts'
import { listsOfMail } from '../mailbox/list.ts'
import { viewsOfMail } from '../mailbox/read.ts'
import { sendingOfMail } from '../mailbox/send.ts'
import type { World } from '../world.ts'
import { changesOfEntries } from './change-entry.ts'
import { openLoginLinks } from './login-link.ts'
import { viewsOfEntries } from './open-entry.ts'
import type { VaultPort } from './port.ts'
import { openRoom } from './room.ts'
import { openSignIn } from './sign-in/sign-in.ts'
import { openUse } from './use.ts'

/**
 * Opens the vault over the world's database and root keys. `later` keeps the isolate for work that
 * the answer does not wait for, where the platform would end it.
 */
export function openVault(world: World, later: Later = () => undefined): VaultPort {
  const room = openRoom(world, later)
  return {
    ...changesOfEntries(room),
    ...viewsOfEntries(room),
    ...openInbound(room),
    ...openLoginLinks(room),
    ...openUse(room),
    ...openSignIn(room),
    ...listsOfMail(room),
    ...viewsOfMail(room),
    ...sendingOfMail(room),
    ready: async () => {
      room.roots('vault')
      await unbound(world.db).run('vault_ready', {})
    },
  }
}
