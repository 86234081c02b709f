/** Mail that came in, on its way into the database: sealed, with its codes apart. */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { ownMessage } from '../mail/own-message.ts'
import { wrapSchema } from '../sealing/wrap.ts'
import { answering } from '../vault/answering.ts'
import type { VaultRoom } from '../vault/room.ts'
import { aliasOf } from './address.ts'
import { firstKey } from './first-key.ts'
import type { InboundPort, IncomingMail } from './inbound-port.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { sealMail } from './seal-mail.ts'

const known = z.object({ known: z.boolean() })
const refusals = ['unknown_recipient', 'mailbox_full', 'too_many', 'loop'] as const
const begun = z.union([
  z.object({ outcome: z.enum([...refusals, 'kept']) }),
  z.object({ outcome: z.literal('open'), account: z.string(), wrap: wrapSchema.nullable() }),
])
const ended = z.object({ outcome: z.enum(['kept', 'mailbox_full', 'too_many']) })

/** The part of the vault that takes mail in. */
export function openInbound(room: VaultRoom): InboundPort {
  const db = unbound(room.world.db)
  return {
    receives: (address) =>
      answering(async () => {
        const alias = aliasOf(room.world.config, address)
        if (alias === undefined) return false
        return (await db.one('inbound_receives', { alias }, known))?.known === true
      }),
    keep: (mail) => answering(() => keep(room, mail)),
  }
}

async function keep(
  room: VaultRoom,
  mail: IncomingMail,
): Promise<'kept' | { refused: MailRefusal }> {
  const { world } = room
  const db = unbound(world.db)
  const alias = aliasOf(world.config, mail.to)
  if (alias === undefined) return { refused: 'unknown_recipient' }
  const { from: author, size, digest } = mail
  const message = ownMessage(world.config.MAIL_DOMAIN, mail.body.messageId)
  const unproven = mail.authentication.provenDomain === undefined
  const asked = { alias, author, unproven, size, digest, message }
  const found = await db.one('inbound_begin', asked, begun)
  if (found?.outcome !== 'open') return outcomeOf(found?.outcome ?? 'unknown_recipient')
  const { account } = found
  const wrap = found.wrap ?? (await firstKey(room, alias, account))
  const sealed = sealMail(room, { account, wrap }, mail)
  const kept = { alias, is_own: mail.isOwn, message, ...sealed }
  return outcomeOf((await db.one('inbound_keep', kept, ended))?.outcome ?? 'kept')
}

function outcomeOf(outcome: 'kept' | (typeof refusals)[number]) {
  return outcome === 'kept' ? outcome : { refused: outcome }
}
