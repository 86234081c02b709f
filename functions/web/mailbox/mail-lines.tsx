/** Mails in a list. Text of others is shown as text and never as a link or markup. */
import * as z from 'zod'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { mailDirection, mailFrom } from '../../../shared/contract/mail.ts'
import type { MailFile, MailItem, OpenedMail } from '../../../shared/mailbox/port.ts'
import { isUuid } from '../approvals/approvals-data.ts'
import { requireOwner } from '../frame.ts'
import { Badge, Time } from '../ui/show.tsx'
import { vaultOf } from '../vault/entry-lines.tsx'
import { type PageContext, webAppPath } from '../visit.ts'

/** Lists mails; each links to its own page. */
export function Mails({ mails }: { mails: readonly MailItem[] }) {
  return (
    <ul class="items">
      {mails.map((mail) => (
        <li>
          <a href={`${webAppPath}/mail/${mail.mail_id}`}>
            {mail.untrusted.subject.text || 'No subject'}
          </a>
          <span class="meta">
            <Time at={mail.at} />
            <span class="long">{mail.direction === 'in' ? mail.from.address : sentTo(mail)}</span>
            <MailStatusBadge mail={mail} />
            {mail.unread && <Badge>Not read by an agent</Badge>}
            {mail.codes.length > 0 && <span>With a code</span>}
          </span>
        </li>
      ))}
    </ul>
  )
}

function sentTo({ deliveries = [] }: MailItem): string {
  return `To ${deliveries.map(({ to }) => to).join(', ')}`
}

/** Shows which domain is proven to have sent it or, for a sent mail, the state of delivery. */
export function MailStatusBadge({ mail }: { mail: MailItem }) {
  if (mail.direction === 'out') {
    const states = new Set((mail.deliveries ?? []).map(({ status }) => status))
    if (states.has('failed')) {
      return (
        <Badge kind="danger">{states.size > 1 ? 'Not delivered to all' : 'Not delivered'}</Badge>
      )
    }
    return <Badge>{states.has('queued') ? 'On its way' : 'Sent'}</Badge>
  }
  const { proven_domain: domain } = mail.from
  if (domain === undefined) return <Badge kind="warning">Sender not verified</Badge>
  return <Badge kind="good">Proven to be from {domain}</Badge>
}

/** Shows if an agent has used, or can still use, a code or link that was found. */
export function CodeState({ code, now }: { code: MailItem['codes'][number]; now: Date }) {
  const { used, hosts, expires_at: end } = code
  const places = hosts.join(', ')
  if (used) return <>An agent has used it at {places} without seeing it</>
  if (hosts.length === 0) return <>Kept from agents: nothing proves where it belongs</>
  if (new Date(end) <= now) return <>Expired unused</>
  return (
    <>
      Agents can use it once at {places}, without seeing it, until <Time at={end} isInSentence />
    </>
  )
}

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
  throw new Rejection(
    fail('mail_not_found', { message: 'This email does not exist, or was deleted.' }),
  )
}
