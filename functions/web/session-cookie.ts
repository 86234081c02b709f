/**
 * The cookie in which a browser carries its session. Lax and not strict: links from mails and chats
 * have to find the owner signed in, and no GET changes anything.
 */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import * as z from 'zod'
import type { SessionToken } from '../../shared/auth/session.ts'
import { openSessionToken, readSessionToken } from '../../shared/auth/session.ts'
import type { CallerDatabase } from '../../shared/db/database.ts'
import type { Visit } from './visit.ts'

const name = 'aoa_session'
const host = { path: '/', secure: true, prefix: 'host' } as const

/** The session whose token the browser carries. Whether it still stands the database knows. */
export async function readSession(c: Visit) {
  const token = getCookie(c, name, 'host')
  return token === undefined ? undefined : readSessionToken(c.get('world'), token)
}

/** A token lives on for so long before a use of it moves the end of the session. */
const renewedAfterMilliseconds = 300_000

/** Moves the end of a session that is used, and gives the browser its new token. */
export async function renewSession(
  c: Visit,
  session: SessionToken,
  db: CallerDatabase,
): Promise<void> {
  const world = c.get('world')
  if (world.now().getTime() - session.issuedAt.getTime() < renewedAfterMilliseconds) return
  const moved = await db.one('owner_touch_session', {}, z.object({ expires_at: z.string() }))
  if (!moved) return
  const expiresAt = new Date(moved.expires_at)
  keepSession(c, await openSessionToken(world, { ...session, expiresAt }))
}

/** Gives the browser a session, in place of any that it had. */
export function keepSession(c: Visit, token: string): void {
  setCookie(c, name, token, { ...host, httpOnly: true, sameSite: 'Lax' })
}

/** Takes the session from the browser. */
export function dropSession(c: Visit): void {
  deleteCookie(c, name, host)
}
