/** Mail that came in, on its way into the database: sealed, with its codes apart. */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { ownMessage } from '../mail/own-message.ts'
import { wrapSchema } from '../sealing/wrap.ts'
import { answering } from '../vault/answering.ts'
import type { VaultRoom } from '../vault/room.ts'
import { aliasOf } from './address.ts'
import { firstKey } from './first-key.ts'
import type { InboundPort, IncomingHead, IncomingMail } from './inbound-port.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { sealMail } from './seal-mail.ts'

const known = z.object({ known: z.boolean() })
const refusals = ['unknown_recipient', 'mailbox_full', 'too_many', 'loop'] as const
const begun = z.object({ outcome: z.enum([...refusals, 'kept', 'open']) })
const holder = z.object({ account: z.string(), wrap: wrapSchema.nullable() })
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
    admits: (head) => answering(() => admit(room, head)),
    keep: (mail) => answering(() => keep(room, mail)),
  }
}

async function admit(
  { world }: VaultRoom,
  { to, from: author, authentication, size, digest, messageId }: IncomingHead,
): Promise<'open' | 'kept' | { refused: MailRefusal }> {
  const alias = aliasOf(world.config, to)
  if (alias === undefined) return { refused: 'unknown_recipient' }
  const message = ownMessage(world.config.MAIL_DOMAIN, messageId)
  const unproven = authentication.provenDomain === undefined
  const asked = { alias, author, unproven, size, digest, message }
  const outcome = (await unbound(world.db).one('inbound_begin', asked, begun))?.outcome
  return outcome === 'open' ? outcome : outcomeOf(outcome ?? 'unknown_recipient')
}

async function keep(
  room: VaultRoom,
  mail: IncomingMail,
): Promise<'kept' | { refused: MailRefusal }> {
  const { world } = room
  const db = unbound(world.db)
  const alias = aliasOf(world.config, mail.to)
  const found = alias === undefined ? undefined : await db.one('inbound_holder', { alias }, holder)
  if (alias === undefined || !found) return { refused: 'unknown_recipient' }
  const message = ownMessage(world.config.MAIL_DOMAIN, mail.body.messageId)
  const { account } = found
  const wrap = found.wrap ?? (await firstKey(room, alias, account))
  const sealed = sealMail(room, { account, wrap }, mail)
  const kept = { alias, is_own: mail.isOwn, message, ...sealed }
  return outcomeOf((await db.one('inbound_keep', kept, ended))?.outcome ?? 'kept')
}

function outcomeOf(outcome: 'kept' | (typeof refusals)[number]) {
  return outcome === 'kept' ? outcome : { refused: outcome }
}
