/**
 * Writes the headers by which mail programs recognize a reply (RFC 5322 section 3.6.4). They name the
 * answered mail and as many of those before it as there is room for, and the subject is kept.
 */
import { visibleLine } from '../../text/untrusted.ts'
import type { ThreadIds } from './news.ts'

/** The subject of a reply, and its headers, which may be folded over several lines. */
export type Reply = {
  subject: string
  headers: { 'In-Reply-To'?: string; References?: string }
}

/** Number of references kept: the first, which began the thread, and the last ones. */
const referencesMax = 30
const subjectLengthMax = 200
/** A Message-ID that fits on a line of at most 998 characters (RFC 5322 section 2.1.1). */
const id = /^<[!-;=?-~]{1,900}>$/

/** `Re:` and its translations, with the numbers that some programs add. */
const answered =
  /^(?:\s*(?:re|aw|antw|sv|vs|odp|ref|rif|res|ynt|отв|на|回复|回覆|答复|答覆|返信)(?:\[\d+\])?\s*[:：])+\s*/iu

/** Makes a mail a reply to another. Ids that cannot stand in a header are left out. */
export function replyTo(mail: { subject: string } & ThreadIds): Reply {
  const subject = `Re: ${visibleLine(mail.subject).replace(answered, '')}`.slice(
    0,
    subjectLengthMax,
  )
  const { messageId } = mail
  if (messageId === undefined || !id.test(messageId))
    return { subject: subject.trim(), headers: {} }
  // In a mail without References, its parent takes their place.
  const before = mail.references.length > 0 ? mail.references : [mail.inReplyTo ?? '']
  const chain = [...new Set([...before, messageId].filter((one) => id.test(one)))]
  const kept =
    chain.length > referencesMax ? [chain[0] ?? '', ...chain.slice(1 - referencesMax)] : chain
  return {
    subject: subject.trim(),
    headers: { 'In-Reply-To': messageId, References: kept.join('\r\n ') },
  }
}
