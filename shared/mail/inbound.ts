/** Mail that came in, on its way into the database: sealed, with its codes apart. */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import { type Wrap, wrapSchema } from '../sealing/wrap.ts'
import { answering } from '../vault/answering.ts'
import { newAccountKey } from '../vault/keys.ts'
import type { VaultRoom } from '../vault/room.ts'
import type { InboundPort, IncomingMail } from './inbound-port.ts'
import { aliasOf } from './mailbox-address.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { sealMail } from './seal-mail.ts'

const known = z.object({ known: z.boolean() })
const refusals = ['unknown_recipient', 'mailbox_full', 'too_many', 'loop'] as const
const begun = z.union([
  z.object({ outcome: z.enum([...refusals, 'kept']) }),
  z.object({ outcome: z.literal('open'), account: z.string(), wrap: wrapSchema.nullable() }),
])
const ended = z.object({ outcome: z.enum(['kept', 'mailbox_full', 'too_many']) })
const keyed = z.object({ kept: wrapSchema })

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
  const asked = { alias, author, size, digest, message }
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

/** Draws the key of an account's mail. Of two that do at once, both take the one that was kept first. */
export async function firstKey(room: VaultRoom, alias: string, account: string): Promise<Wrap> {
  const { world } = room
  const drawn = newAccountKey(room.roots('mail'), (length) => world.randomBytes(length), account)
  const answer = await unbound(world.db).one('inbound_key', { alias, wrap: drawn }, keyed)
  if (!answer) throw new Error('an account was not given its key')
  return answer.kept
}

/** The id of a mail of our own that a Message-ID names: `<id@MAIL_DOMAIN>`, else null. */
export function ownMessage(domain: string, messageId: string | undefined): string | null {
  const [id = '', host] = messageId?.slice(1, -1).toLowerCase().split('@') ?? []
  return host === domain.toLowerCase() && z.uuid().safeParse(id).success ? id : null
}
