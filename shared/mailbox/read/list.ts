/** Lists the mails of an account, and waits for the next one. */
import * as z from 'zod'
import { bindCredential } from '../../db/database.ts'
import { catchRefusal } from '../../vault/answering.ts'
import type { VaultContext } from '../../vault/room.ts'
import type { MailboxPort, MailFilters, MailItem, MailQuestion } from '../port.ts'
import { waitForNews } from './news.ts'
import { mailRow, openHead, readerRow } from './row.ts'
import { hasInSubject, itemOf } from './view.ts'

const listed = z.object({ reader: readerRow, mails: z.array(mailRow) })
const came = listed.extend({ newest: z.int() })

/** Mails per look, and looks per search. Subjects are sealed, so a search opens them one by one. */
const searchedAtOnce = 25
const looksMax = 4

/** Opens the part of the vault that lists mails. */
export function listsOfMail(context: VaultContext): Pick<MailboxPort, 'listMails' | 'waitForMail'> {
  return {
    listMails: (credential, question) =>
      catchRefusal(() => listMails(context, credential, question)),
    waitForMail: (credential, wanted) =>
      catchRefusal(() => waitForMail(context, credential, wanted)),
  }
}

/** Returns a page of mails, newest first. A search that takes too long ends early, with a cursor. */
async function listMails(
  context: VaultContext,
  credential: string,
  { limit, before, from, subject, unread, direction, ...times }: MailQuestion,
): Promise<{ mails: MailItem[]; next_cursor: string | null }> {
  const db = bindCredential(context.world.db, credential)
  const page = subject === undefined ? limit + 1 : searchedAtOnce
  const question = {
    page,
    sender: senderOf(from),
    since: times.since ?? null,
    until: times.until ?? null,
    only_unread: unread,
    only_direction: direction ?? null,
  }
  const mails: MailItem[] = []
  let cursor = before ?? null
  for (let look = 0; look < looksMax; look += 1) {
    const found = await db.one('list_mails', { ...question, before: cursor }, listed)
    for (const row of found?.mails ?? []) {
      if (mails.length === limit) return { mails, next_cursor: String(cursor) }
      cursor = row.number
      const item = found && itemOf(openHead(context, found.reader, row), found.reader, row)
      if (item && hasInSubject(item, subject)) mails.push(item)
    }
    if ((found?.mails.length ?? 0) < page) return { mails, next_cursor: null }
  }
  return { mails, next_cursor: String(cursor) }
}

/** Looks for a matching mail, and again whenever a mail arrives, until it is found or time runs out. */
async function waitForMail(
  context: VaultContext,
  credential: string,
  { timeoutSeconds, from, subject, since }: Parameters<MailboxPort['waitForMail']>[1],
): Promise<{ mail: MailItem | null }> {
  const { world } = context
  const db = bindCredential(world.db, credential)
  const endsMilliseconds = world.now().getTime() + timeoutSeconds * 1000
  const question = { page: searchedAtOnce, sender: senderOf(from), since: since ?? null }
  let after: number | null = null
  const look = () => db.one('mails_after', { ...question, after }, came)
  for (;;) {
    const found = await look()
    if (!found) throw new Error('the database told of no mails')
    const { reader, mails, newest } = found
    const items = mails.map((row) => itemOf(openHead(context, reader, row), reader, row))
    const mail = items.find((item) => hasInSubject(item, subject))
    if (mail) return { mail }
    after = newest
    if (mails.length === searchedAtOnce) continue
    const wanted = { after: newest, endsMilliseconds }
    if (!(await waitForNews(world, credential, wanted))) return { mail: null }
  }
}

/** Returns the sender's address or domain as it is stored. */
function senderOf(from: MailFilters['from']): string | null {
  return from === undefined ? null : from.toLowerCase().replace(/^@/, '')
}
