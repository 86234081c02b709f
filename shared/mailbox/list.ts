/** Lists of mails, and the wait for the next one, as their account sees them. */
import * as z from 'zod'
import { bindCredential } from '../db/database.ts'
import { answering } from '../vault/answering.ts'
import type { VaultRoom } from '../vault/room.ts'
import type { MailboxPort, MailFilters, MailItem, MailQuestion } from './port.ts'
import { mailRow, openHead, readerRow } from './row.ts'
import { hasInSubject, itemOf } from './view.ts'

const listed = z.object({ reader: readerRow, mails: z.array(mailRow) })
const came = listed.extend({ newest: z.int() })

/** Subjects are sealed, so a search opens them one by one: so many at a time, so many times. */
const searchedAtOnce = 25
const looksMax = 4
/** Between two looks of a wait. */
const pauseMilliseconds = 1_000

/** The part of the vault that lists mails. */
export function listsOfMail(room: VaultRoom): Pick<MailboxPort, 'listMails' | 'waitForMail'> {
  return {
    listMails: (credential, question) => answering(() => listMails(room, credential, question)),
    waitForMail: (credential, wanted) => answering(() => waitForMail(room, credential, wanted)),
  }
}

/** A page of mails, newest first. A search ends early, with a cursor, where it would take too long. */
async function listMails(
  room: VaultRoom,
  credential: string,
  { limit, before, from, subject, unread, direction, ...times }: MailQuestion,
): Promise<{ mails: MailItem[]; next_cursor: string | null }> {
  const db = bindCredential(room.world.db, credential)
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
      const item = found && itemOf(openHead(room, found.reader, row), found.reader, row)
      if (item && hasInSubject(item, subject)) mails.push(item)
    }
    if ((found?.mails.length ?? 0) < page) return { mails, next_cursor: null }
  }
  return { mails, next_cursor: String(cursor) }
}

/** Looks for a mail once a second until it is there or the time is over. */
async function waitForMail(
  room: VaultRoom,
  credential: string,
  { timeoutSeconds, from, subject, since }: Parameters<MailboxPort['waitForMail']>[1],
): Promise<{ mail: MailItem | null }> {
  const { world } = room
  const db = bindCredential(world.db, credential)
  const ends = world.now().getTime() + timeoutSeconds * 1000
  const question = { page: searchedAtOnce, sender: senderOf(from), since: since ?? null }
  let after: number | null = null
  const look = () => db.one('mails_after', { ...question, after }, came)
  for (;;) {
    const found = await look()
    if (!found) throw new Error('the database told of no mails')
    const { reader, mails } = found
    const items = mails.map((row) => itemOf(openHead(room, reader, row), reader, row))
    const mail = items.find((item) => hasInSubject(item, subject))
    if (mail) return { mail }
    after = found.newest
    if (mails.length === searchedAtOnce) continue
    const left = ends - world.now().getTime()
    if (left <= 0) return { mail: null }
    await world.pause(Math.min(pauseMilliseconds, left))
  }
}

/** As addresses are stored. */
function senderOf(from: MailFilters['from']): string | null {
  return from === undefined ? null : from.toLowerCase().replace(/^@/, '')
}
