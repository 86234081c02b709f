/** Brings incoming mail into the database: sealed, with its codes separate. */
import * as z from 'zod'
import { unbound } from '../../db/database.ts'
import { ownMailIdOf } from '../../mail/outbox.ts'
import { wrapSchema } from '../../sealing/wrap.ts'
import { catchRefusal } from '../../vault/answering.ts'
import type { VaultContext } from '../../vault/room.ts'
import { aliasOf } from '../address.ts'
import { ensureMailKey } from './first-key.ts'
import type { InboundPort, IncomingHead, IncomingMail } from './inbound-port.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { sealMail } from './seal-mail.ts'

const known = z.object({ known: z.boolean() })
const refusals = ['unknown_recipient', 'mailbox_full', 'too_many', 'loop'] as const
const begun = z.object({
  outcome: z.enum([...refusals, 'kept', 'open']),
  sites_in_use: z.array(z.string()),
})
const holder = z.object({ account: z.string(), wrap: wrapSchema.nullable() })
const ended = z.object({ outcome: z.enum(['kept', 'mailbox_full', 'too_many']) })

/** Opens the part of the vault that takes mail in. */
export function openInbound(context: VaultContext): InboundPort {
  const db = unbound(context.world.db)
  return {
    receives: (address) =>
      catchRefusal(async () => {
        const alias = aliasOf(context.world.config, address)
        if (alias === undefined) return false
        return (await db.one('inbound_receives', { alias }, known))?.known === true
      }),
    admits: (head) => catchRefusal(() => admit(context, head)),
    keep: (mail) => catchRefusal(() => keep(context, mail)),
  }
}

async function admit(
  { world }: VaultContext,
  { to, from: author, authentication, size, digest, messageId }: IncomingHead,
): Promise<{ sitesInUse: string[] } | 'kept' | { refused: MailRefusal }> {
  const alias = aliasOf(world.config, to)
  if (alias === undefined) return { refused: 'unknown_recipient' }
  const message = ownMailIdOf(world.config.MAIL_DOMAIN, messageId)
  const unproven = authentication.provenDomain === undefined
  const asked = { alias, author, unproven, size, digest, message }
  const found = await unbound(world.db).one('inbound_begin', asked, begun)
  if (found?.outcome !== 'open') return outcomeOf(found?.outcome ?? 'unknown_recipient')
  return { sitesInUse: found.sites_in_use }
}

async function keep(
  context: VaultContext,
  mail: IncomingMail,
): Promise<'kept' | { refused: MailRefusal }> {
  const { world } = context
  const db = unbound(world.db)
  const alias = aliasOf(world.config, mail.to)
  const found = alias === undefined ? undefined : await db.one('inbound_holder', { alias }, holder)
  if (alias === undefined || !found) return { refused: 'unknown_recipient' }
  const message = ownMailIdOf(world.config.MAIL_DOMAIN, mail.body.messageId)
  const { account } = found
  const wrap = found.wrap ?? (await ensureMailKey(context, alias, account))
  const sealed = sealMail(context, { account, wrap }, mail)
  const kept = { alias, is_own: mail.isOwn, message, ...sealed }
  return outcomeOf((await db.one('inbound_keep', kept, ended))?.outcome ?? 'kept')
}

function outcomeOf(outcome: 'kept' | (typeof refusals)[number]) {
  return outcome === 'kept' ? outcome : { refused: outcome }
}
