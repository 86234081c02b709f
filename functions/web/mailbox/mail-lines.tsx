/** Mails in a list. Text of others is shown as text and never as a link or markup. */
import type { MailItem } from '../../../shared/mailbox/port.ts'
import { Badge, Time } from '../ui/show.tsx'
import { webAppPath } from '../visit.ts'

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
  if (domain === undefined) return <Badge kind="warning">Nothing proves who sent it</Badge>
  return <Badge kind="good">Proven to be from {domain}</Badge>
}

/** Shows if an agent has used, or can still use, a code or link that was found. */
export function CodeState({ code, now }: { code: MailItem['codes'][number]; now: Date }) {
  const { used, hosts, expires_at: end } = code
  const places = hosts.join(', ')
  if (used) return <>An agent has used it at {places}, unread</>
  if (hosts.length === 0) return <>Kept from agents: nothing proves where it belongs</>
  if (new Date(end) <= now) return <>Not used in time</>
  return (
    <>
      Agents can use it unread at {places}, once, until <Time at={end} />
    </>
  )
}
