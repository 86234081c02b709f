/** Mail that came in, on its way into the database: sealed, with its codes apart. */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { answering } from '../vault/answering.ts'
import type { VaultRoom } from '../vault/room.ts'
import type { InboundPort } from './inbound-port.ts'

const known = z.object({ known: z.boolean() })

/** The part of the vault that takes mail in. */
export function openInbound({ world }: VaultRoom): InboundPort {
  const db = unbound(world.db)
  return {
    receives: (address) =>
      answering(async () => {
        const [local = '', domain] = address.toLowerCase().split('@')
        if (domain !== world.config.MAIL_DOMAIN) return false
        return (await db.one('inbound_receives', { alias: local }, known))?.known === true
      }),
  }
}
