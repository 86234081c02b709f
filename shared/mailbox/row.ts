/** Mails as SQL tells them, and how their sealed parts are opened. */
import * as z from 'zod'
import { mailDelivery, mailDirection } from '../contract/mail.ts'
import { type Wrap, wrapSchema } from '../sealing/wrap.ts'
import type { VaultRoom } from '../vault/room.ts'
import { type MailBody, type MailHead, mailBodySchema, mailHeadSchema } from './kept-mail.ts'

const verdict = z.enum(['pass', 'fail', 'neutral', 'error', 'none', 'absent'])
const time = z.coerce.date()

/** Who reads. */
export const readerRow = z.object({
  account: z.string(),
  alias: z.string(),
  /** Null until the account has its first mail. */
  wrap: wrapSchema.nullable(),
  /** Codes that are shown: all, those that are not of this service, or handles for all. */
  sees: z.enum(['all', 'codes', 'handles']),
})

/** A mail but for its body and files. */
export const mailRow = z.object({
  id: z.uuid(),
  number: z.int(),
  direction: mailDirection,
  at: time,
  from_address: z.string(),
  proven_domain: z.string().nullable(),
  spf: verdict,
  dkim: verdict,
  dmarc: verdict,
  own_topic: z.string().nullable(),
  size: z.int(),
  attachments: z.int(),
  unread: z.boolean(),
  sealed_head: z.unknown(),
  codes: z.array(
    z.object({
      handle: z.string(),
      kind: z.enum(['code', 'link']),
      hosts: z.array(z.string()),
      expires_at: time,
      used: z.boolean(),
    }),
  ),
  deliveries: z.array(
    mailDelivery.omit({ untrusted: true }).extend({ reason: z.string().nullable() }),
  ),
})

/** Who reads. */
export type Reader = z.output<typeof readerRow>
/** A mail but for its body and files. */
export type MailRow = z.output<typeof mailRow>

/** Opens the head of a mail. */
export function openHead(room: VaultRoom, reader: Reader, mail: MailRow): MailHead {
  return mailHeadSchema.parse(openJson(room, reader, mail, 'head', mail.sealed_head))
}

/** Opens the body of a mail. */
export function openBody(
  room: VaultRoom,
  reader: Reader,
  mail: MailRow,
  sealed: unknown,
): MailBody {
  return mailBodySchema.parse(openJson(room, reader, mail, 'body', sealed))
}

/** Opens a part of a mail: `head`, `body` or `attachment/<number>`. */
export function openPart(
  room: VaultRoom,
  { account, wrap }: Reader,
  { id, proven_domain: domain }: MailRow,
  part: string,
  sealed: unknown,
): Uint8Array {
  const place = { account, record: `${id}/${part}`, version: 1, site: domain ?? '' }
  return room.open('mail', { ...place, wrap: keyOf(wrap), sealed })
}

function openJson(...part: Parameters<typeof openPart>): unknown {
  return JSON.parse(new TextDecoder().decode(openPart(...part)))
}

function keyOf(wrap: Wrap | null): Wrap {
  if (!wrap) throw new Error('an account with mail has no key for it')
  return wrap
}
