/**
 * The cookie in which a browser carries its session. Lax and not strict: links from mails and chats
 * have to find the owner signed in, and no GET changes anything.
 */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import type { SessionToken } from '../../shared/auth/session.ts'
import { openSessionToken, readSessionToken } from '../../shared/auth/session.ts'
import { Rejection } from '../../shared/contract/errors.ts'
import type { CallerDatabase } from '../../shared/db/database.ts'
import { bindCredential } from '../../shared/db/database.ts'
import { required } from '../../shared/env.ts'
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

/** Ends the session that the browser carries, whosever it is, if it still stands. */
export async function endSession(c: Visit): Promise<void> {
  const { db, config } = c.get('world')
  const session = await readSession(c)
  if (!session) return
  const credential = await credentialOf(session.sid, required(config, 'API_KEY_PEPPER'))
  try {
    await bindCredential(db, credential).run('owner_end_session', {})
  } catch (error) {
    const isOver = error instanceof Rejection && error.refusal.refusal === 'unauthorized'
    if (!isOver) throw error
  }
}

/** Takes the session from the browser. */
export function dropSession(c: Visit): void {
  deleteCookie(c, name, host)
}
