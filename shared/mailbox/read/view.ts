/**
 * Shows a mail to the owner as it is, and to agents with handles in place of codes. Agents also search
 * in this view; otherwise a search would tell them what the codes are.
 */

import { type Untrusted, untrusted, visibleLine } from '../../mail/untrusted.ts'
import { sealPlaces } from '../codes/code-places.ts'
import { isAlone } from '../codes/text-lines.ts'
import type { MailHead, MarkedText } from '../kept-mail.ts'
import { textForAgents } from '../kept-mail.ts'
import type { MailItem } from '../port.ts'
import type { MailRow, Reader } from './row.ts'

const subjectLengthMax = 300
const reasonLengthMax = 300

/**
 * Returns true if a reader sees the codes of a mail. Only the owner sees codes of this service itself,
 * except the code for a sign-up.
 */
export function seesCodes({ sees }: Reader, { own_topic: ownTopic }: MailRow): boolean {
  return sees === 'all' || (sees === 'codes' && (ownTopic ?? 'sign_up_code') === 'sign_up_code')
}

/** Returns a text of a mail, with handles for codes that are not shown, and their labels in a long text. */
export function textForReader(marked: MarkedText, showsCodes: boolean, isLabelled = false): string {
  const { text, places } = marked
  if (showsCodes || !isLabelled) return showsCodes ? text : textForAgents(marked)
  return sealPlaces(text, places, (place) => `${place.handle}, ${labelOf(text, place)}`)
}

/** Returns by what an agent chooses among handles: the form of a secret, or the host that a link leads to. */
function labelOf(text: string, { kind, start, end }: MarkedText['places'][number]): string {
  const written = text.slice(start, end)
  if (kind === 'link') return URL.parse(written)?.host ?? 'an address'
  const signs = written.replaceAll(/[\s-]/g, '')
  const isOfDigits = /^\p{Nd}+$/u.test(signs)
  const form = `${signs.length} ${isOfDigits ? 'digits' : 'characters'}`
  return isAlone(text, { start, end }) ? `${form}, alone on its line` : form
}

/** Returns a mail as an item of a list. */
export function itemOf(head: MailHead, reader: Reader, mail: MailRow): MailItem {
  const { subject } = head
  const showsCodes = seesCodes(reader, mail)
  const name = textForReader(head.name, showsCodes)
  const address = head.address ? textForReader(head.address, showsCodes) : mail.from_address
  const from = name === '' ? address : `${name} <${address}>`
  return {
    mail_id: mail.id,
    direction: mail.direction,
    at: mail.at.toISOString(),
    from: {
      address,
      ...(mail.proven_domain === null ? {} : { proven_domain: mail.proven_domain }),
      authenticated: mail.proven_domain !== null,
    },
    untrusted: {
      subject: untrusted({ from, text: textForReader(subject, showsCodes) }, subjectLengthMax),
    },
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

/** Returns a delivery. The server's answer is outside text, and often repeats what was sent to it. */
function deliveryOf({ to, status, reason }: MailRow['deliveries'][number]) {
  if (reason === null) return { to, status }
  const from = `the mail server of ${to.slice(to.lastIndexOf('@') + 1)}`
  return { to, status, untrusted: { reason: untrusted({ from, text: reason }, reasonLengthMax) } }
}

/** Returns true if all words are in the subject that the reader sees. */
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
