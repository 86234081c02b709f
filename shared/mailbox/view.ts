/**
 * A mail as it is shown: to the owner as it is, to agents with handles in the places of codes. What
 * agents search by is the same view, or a search would tell them what is in those places.
 */

import { type Untrusted, untrusted, visibleLine } from '../mail/untrusted.ts'
import type { MailHead, MarkedText } from './kept-mail.ts'
import { textForAgents } from './kept-mail.ts'
import type { MailItem } from './port.ts'
import type { MailRow, Reader } from './row.ts'

const subjectLengthMax = 300
const reasonLengthMax = 300

/**
 * Whether a reader sees the codes of a mail. Those of this service itself are for its owner alone,
 * but for the one with which somebody signs up.
 */
export function seesCodes({ sees }: Reader, { own_topic: ownTopic }: MailRow): boolean {
  return sees === 'all' || (sees === 'codes' && (ownTopic ?? 'sign_up_code') === 'sign_up_code')
}

/** A text of a mail, with handles for codes that are not shown. */
export function shown(text: MarkedText, showsCodes: boolean): string {
  return showsCodes ? text.text : textForAgents(text)
}

/** A mail in the form of a list. */
export function itemOf({ name, subject }: MailHead, reader: Reader, mail: MailRow): MailItem {
  const showsCodes = seesCodes(reader, mail)
  const from = authorOf(shown(name, showsCodes), mail)
  return {
    mail_id: mail.id,
    direction: mail.direction,
    at: mail.at.toISOString(),
    from: {
      address: mail.from_address,
      ...(mail.proven_domain === null ? {} : { proven_domain: mail.proven_domain }),
      authenticated: mail.proven_domain !== null,
    },
    untrusted: { subject: untrusted({ from, text: shown(subject, showsCodes) }, subjectLengthMax) },
    size: mail.size,
    attachment_count: mail.attachments,
    codes: mail.codes.map(({ expires_at: end, ...code }) => ({
      ...code,
      expires_at: end.toISOString(),
    })),
    unread: mail.unread,
    ...(mail.direction === 'out' ? { deliveries: mail.deliveries.map(deliveryOf) } : {}),
  }
}

/** A server answers whatever it likes, and often repeats what it was sent. */
function deliveryOf({ to, status, reason }: MailRow['deliveries'][number]) {
  if (reason === null) return { to, status }
  const from = `the mail server of ${to.slice(to.lastIndexOf('@') + 1)}`
  return { to, status, untrusted: { reason: untrusted({ from, text: reason }, reasonLengthMax) } }
}

/** Whether all words are in the subject that the reader is shown. */
export function hasInSubject(
  { untrusted: { subject } }: { untrusted: { subject: Untrusted } },
  words: string | undefined,
): boolean {
  if (words === undefined) return true
  const shown = folded(subject.text)
  return folded(words)
    .split(' ')
    .every((word) => shown.includes(word))
}

function folded(text: string): string {
  return visibleLine(text.normalize('NFKC')).toLowerCase()
}

function authorOf(name: string, { from_address: address }: MailRow): string {
  return name === '' ? address : `${name} <${address}>`
}
