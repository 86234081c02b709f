/** Mails as SQL returns them, and functions that open their sealed parts. */
import * as z from 'zod'
import { mailDelivery, mailDirection } from '../../contract/mail.ts'
import { type WrappedAccountKey, wrapSchema } from '../../sealing/wrap.ts'
import type { VaultContext } from '../../vault/room.ts'
import { type MailBody, type MailHead, mailBodySchema, mailHeadSchema } from '../kept-mail.ts'

const verdict = z.enum(['pass', 'fail', 'neutral', 'error', 'none', 'absent'])
const time = z.coerce.date()

/** Schema of the reader of a mail. */
export const readerRow = z.object({
  account: z.string(),
  alias: z.string(),
  /** Null until the account has its first mail. */
  wrap: wrapSchema.nullable(),
  /** Codes that are shown: all, those of other services and the sign-up code, or none. */
  sees: z.enum(['all', 'codes', 'handles']),
})

/** Schema of a mail without its body and files. */
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

/** The reader of a mail. */
export type Reader = z.output<typeof readerRow>
/** A mail without its body and files. */
export type MailRow = z.output<typeof mailRow>

/** Opens the head of a mail. */
export function openHead(context: VaultContext, reader: Reader, mail: MailRow): MailHead {
  return mailHeadSchema.parse(openJson(context, reader, mail, 'head', mail.sealed_head))
}

/** Opens the body of a mail. */
export function openBody(
  context: VaultContext,
  reader: Reader,
  mail: MailRow,
  sealed: unknown,
): MailBody {
  return mailBodySchema.parse(openJson(context, reader, mail, 'body', sealed))
}

/** Opens a part of a mail: `head`, `body` or `attachment/<number>`. */
export function openPart(
  context: VaultContext,
  { account, wrap }: Reader,
  { id, proven_domain: domain }: MailRow,
  part: string,
  sealed: unknown,
): Uint8Array {
  const place = { account, record: `${id}/${part}`, version: 1, site: domain ?? '' }
  return context.open('mail', { ...place, wrap: requiredKey(wrap), sealed })
}

function openJson(...part: Parameters<typeof openPart>): unknown {
  return JSON.parse(new TextDecoder().decode(openPart(...part)))
}

function requiredKey(wrap: WrappedAccountKey | null): WrappedAccountKey {
  if (!wrap) throw new Error('an account with mail has no key for it')
  return wrap
}
