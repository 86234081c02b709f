/**
 * What makes a mail a reply in the eyes of other mail programs (RFC 5322 section 3.6.4): it names the
 * mail that it answers, all before it as far as there is room, and keeps the subject.
 */
import { visibleLine } from '../mail/untrusted.ts'

/** The headers of a reply, of one or more lines each, and its subject. */
export type Reply = {
  subject: string
  headers: { 'In-Reply-To'?: string; References?: string }
}

/** Enough for any program to find the thread; with the first one, that began it. */
const referencesMax = 30
const subjectLengthMax = 200
/** RFC 5322 section 2.1.1: a line has at most 998 characters, so a longer id could not be written. */
const id = /^<[!-;=?-~]{1,900}>$/

/** `Re:` in the languages that translate it, and what forwards and lists add. */
const answered =
  /^(?:\s*(?:re|aw|antw|sv|vs|odp|ref|rif|res|ynt|отв|на|回复|回覆|答复|答覆|返信)(?:\[\d+\])?\s*[:：])+\s*/iu

/** Threads a reply under a mail; ids that cannot stand in a header are left out. */
export function replyTo(mail: {
  subject: string
  messageId: string | undefined
  inReplyTo: string | undefined
  references: readonly string[]
}): Reply {
  const subject = `Re: ${visibleLine(mail.subject).replace(answered, '')}`.slice(
    0,
    subjectLengthMax,
  )
  const { messageId } = mail
  if (messageId === undefined || !id.test(messageId))
    return { subject: subject.trim(), headers: {} }
  // Where a mail has no References, its one parent stands for them.
  const before = mail.references.length > 0 ? mail.references : [mail.inReplyTo ?? '']
  const chain = [...new Set([...before, messageId].filter((one) => id.test(one)))]
  const kept =
    chain.length > referencesMax ? [chain[0] ?? '', ...chain.slice(1 - referencesMax)] : chain
  return {
    subject: subject.trim(),
    headers: { 'In-Reply-To': messageId, References: kept.join('\r\n ') },
  }
}
