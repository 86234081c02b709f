/** Mail of the account, as the vault opens it for its owner. */
import * as z from 'zod'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { mailDirection, mailFrom } from '../../../shared/contract/mail.ts'
import type { MailFile, OpenedMail } from '../../../shared/mailbox/port.ts'
import { owner } from '../frame.ts'
import type { Visit } from '../visit.ts'
import { isUuid } from './approvals.ts'
import { vaultOf } from './vault-port.ts'

const pageSize = 25

// What somebody typed into the address is no error: what is not understood is left out.
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
export type AskedMails = z.output<typeof asked>

/** A page of mails, as the address asks for it. */
export async function listOwnMails(c: Visit) {
  const { credential } = await owner(c)
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

/** The mail of the address, its text from where the address says, and one of its files. */
export async function openOwnMail(
  c: Visit,
  attachment?: number,
): Promise<{ mail: OpenedMail; file?: MailFile }> {
  const { credential } = await owner(c)
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
