/** The view of one mail for its reader: the owner, or an agent, who sees codes as handles alone. */
import { encodeBase64 } from '../../base64.ts'
import { escapeHtml, type Message } from '../../mail/letter.ts'
import { messageIdOf } from '../../mail/outbox.ts'
import { type Untrusted, untrusted, visibleLine } from '../../text/untrusted.ts'
import { sealPlaces } from '../codes/code-places.ts'
import { isAlone } from '../codes/text-lines.ts'
import { type MailHead, type MarkedText, textForAgents } from '../kept-mail.ts'
import type { MailFile, MailItem } from '../port.ts'
import { pageOf } from './news.ts'
import type { MailRow, Reader } from './row.ts'
import type { Reply } from './thread.ts'

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

/** A mail of an account, without the recipient of each sealed copy. */
export type AgentMail = Message & { from: string; headers: Record<string, string> }

/** Separator between two recipients (RFC 5322 section 2.2.3). A line has at most 998 characters. */
const nextRecipient = ',\r\n '

/** Writes the mail `<id@domain>` to all of its recipients. */
export function agentMail(mail: {
  id: string
  alias: string
  domain: string
  to: readonly string[]
  subject: string
  text: string
  reply: Reply | undefined
}): AgentMail {
  const { id, alias, domain, to, subject, text, reply } = mail
  return {
    topic: 'agent_mail',
    from: `${alias} <${alias}@${domain}>`,
    subject: visibleLine(subject),
    text,
    html: `<!doctype html>
<html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>
<body><div style="white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(text)}</div></body></html>
`,
    headers: {
      'Message-ID': messageIdOf(domain, id),
      To: to.join(nextRecipient),
      // RFC 3834 section 5: a program wrote this mail, so no program should answer it automatically.
      'Auto-Submitted': reply ? 'auto-replied' : 'auto-generated',
      ...reply?.headers,
    },
  }
}

/** Size of a page of bytes. It is a multiple of 3, so that pages of base64 can be joined. */
const pageBytes = 96 * 1024

/** A page of a file, and the offset of the next page. */
export type FilePage = { next: number | null } & (
  | { untrusted: Untrusted }
  | { content_base64: string }
)

/** Returns the page at an offset, which counts characters of a text and bytes of any other file. */
export function filePage({ text, content }: MailFile, from: string, offset: number): FilePage {
  if (text !== undefined) {
    const { page, next } = pageOf({ from, text }, offset)
    return { untrusted: page, next }
  }
  const end = offset + pageBytes
  const content_base64 = encodeBase64(content.subarray(offset, end))
  return { content_base64, next: end < content.length ? end : null }
}
