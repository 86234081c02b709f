/** Mails of the account, as the vault opens them for its owner. */
import * as z from 'zod'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { mailDirection, mailFrom } from '../../../shared/contract/mail.ts'
import type { MailFile, OpenedMail } from '../../../shared/mailbox/port.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import { requireOwner } from '../frame.ts'
import { vaultOf } from '../vault/vault-port.ts'
import type { PageContext } from '../visit.ts'

const pageSize = 25

// A malformed query is not an error, because people edit addresses: its parts are ignored.
const asked = z.object({
  from: z.string().trim().pipe(mailFrom).optional().catch(undefined),
  direction: mailDirection.optional().catch(undefined),
  unread: z.literal('yes').optional().catch(undefined),
  before: z
    .string()
    .regex(/^[0-9]{1,15}$/)
    .optional()
    .catch(undefined),
})
/** Filters and cursor of a list of mails, as the query of the address has them. */
export type MailQuery = z.output<typeof asked>

/** Lists one page of mails by the query of the address. */
export async function listOwnerMails(c: PageContext) {
  const { credential } = await requireOwner(c)
  const query = asked.parse(c.req.query())
  const { from, direction, unread, before } = query
  const listed = await vaultOf(c).listMails(credential, {
    limit: pageSize,
    before: before === undefined ? undefined : Number(before),
    from,
    direction,
    unread: unread === 'yes',
  })
  if (isRefusal(listed)) throw new Rejection(listed)
  return { query, ...listed }
}

/** Opens the mail of the address, its text from the offset in the query, and one of its files. */
export async function openOwnerMail(
  c: PageContext,
  attachment?: number,
): Promise<{ mail: OpenedMail; file?: MailFile }> {
  const { credential } = await requireOwner(c)
  const mail = c.req.param('mail') ?? ''
  const from = c.req.query('from') ?? ''
  const offset = /^[0-9]{1,9}$/.test(from) ? Number(from) : 0
  const opened = isUuid(mail)
    ? await vaultOf(c).readMail(credential, { mail, attachment, offset })
    : fail('mail_not_found')
  if (!isRefusal(opened)) return opened
  if (opened.refusal !== 'mail_not_found') throw new Rejection(opened)
  throw new Rejection(fail('mail_not_found', { message: 'There is no such mail here.' }))
}
