/**
 * News of mails for all waits in one isolate: one of them asks the database once a second for everyone,
 * and the others read its answer. Each wait pauses by itself and none waits for another, so a request
 * that ends early stops no other.
 */
import * as z from 'zod'
import type { Database } from '../../db/database.ts'
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
    const told = newestMails.parse(await db.call('newest_mails', { credentials }))
    mailNews.newest = new Map(credentials.map((one) => [one, told[one] ?? null]))
  }
  return mailNews.newest
}
