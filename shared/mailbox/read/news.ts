/** News of a mailbox: waits for the next mail, and cuts long texts and threads into pages. */
import * as z from 'zod'
import type { Database } from '../../db/database.ts'
import { ownMailIdOf } from '../../mail/outbox.ts'
import { type Untrusted, untrusted, visibleText } from '../../text/untrusted.ts'
import type { MailNews } from '../port.ts'

/** The parts of the world that a wait uses. */
export type NewsWorld = {
  now(): Date
  pause(milliseconds: number): Promise<void>
  db: Pick<Database, 'call'>
  mailNews: MailNews
}

/** Milliseconds between two questions to the database, and between two looks at its last answer. */
const newsMilliseconds = 1_000

const newestMails = z.record(z.string(), z.int())

/**
 * Pauses until there is a reason to look again with this credential: its account has a mail newer than
 * number `after`, or the credential is out of service. Returns false if the time ends first.
 */
export async function waitForNews(
  world: NewsWorld,
  credential: string,
  { after, endsMilliseconds }: { after: number; endsMilliseconds: number },
): Promise<boolean> {
  const { waiting } = world.mailNews
  waiting.set(credential, (waiting.get(credential) ?? 0) + 1)
  try {
    for (;;) {
      const left = endsMilliseconds - world.now().getTime()
      if (left <= 0) return false
      await world.pause(Math.min(newsMilliseconds, left))
      const newest = (await readNews(world)).get(credential)
      if (newest === null || (newest ?? 0) > after) return true
    }
  } finally {
    const others = (waiting.get(credential) ?? 1) - 1
    if (others === 0) waiting.delete(credential)
    else waiting.set(credential, others)
  }
}

async function readNews(world: NewsWorld): Promise<MailNews['newest']> {
  const { db, mailNews } = world
  const at = world.now().getTime()
  if (at - mailNews.askedMilliseconds >= newsMilliseconds) {
    mailNews.askedMilliseconds = at
    const credentials = [...mailNews.waiting.keys()]
    const newest = newestMails.parse(await db.call('newest_mails', { credentials }))
    mailNews.newest = new Map(credentials.map((one) => [one, newest[one] ?? null]))
  }
  return mailNews.newest
}

const pageLength = 20_000

/**
 * Returns the page at an offset in UTF-16 units, and the offset of the next page; null at the end.
 * `notKept` is the number of further units that were cut when the text came in.
 */
export function pageOf(
  { from, text, notKept = 0 }: { from: string; text: string; notKept?: number },
  offset: number,
): { page: Untrusted; next: number | null } {
  const whole = visibleText(text)
  const length = whole.length + notKept
  const page = untrusted({ from, text: whole.slice(offset) }, pageLength)
  const end = offset + page.text.length
  return {
    page: { ...page, length, truncated: end < length },
    next: end < whole.length ? end : null,
  }
}

/** The ids of an answered mail. */
export type ThreadIds = {
  messageId: string | undefined
  inReplyTo: string | undefined
  references: readonly string[]
}

/** Returns all ids for those who had the answered mail, and for others only those of this service. */
export function idsToName(
  { messageId, inReplyTo, references }: ThreadIds,
  { domain, isToOthers }: { domain: string; isToOthers: boolean },
): ThreadIds {
  const isNamed = (id: string | undefined) =>
    !isToOthers || (id !== undefined && ownMailIdOf(domain, id) !== null)
  return {
    messageId: isNamed(messageId) ? messageId : undefined,
    inReplyTo: isNamed(inReplyTo) ? inReplyTo : undefined,
    references: references.filter(isNamed),
  }
}
