/**
 * The cookies that carry the session and tell one browser from others. They are Lax and not Strict: a person who
 * follows a link from a mail or chat must be signed in on arrival, and no GET changes anything.
 */
import type { MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { openSessionToken, readSessionToken, type SessionToken } from '../../shared/auth/session.ts'
import { Rejection } from '../../shared/contract/errors.ts'
import { bindCredential, type CallerDatabase } from '../../shared/db/database.ts'
import { toHex } from '../../shared/digest.ts'
import { required } from '../../shared/env.ts'
import { hostCookie, type PageContext, type WebEnv } from './visit.ts'

const name = 'aoa_session'

const browserName = 'aoa_browser'
/** Seconds for which a browser is known at a sign-in: the most that browsers keep a cookie. */
const knownSeconds = 400 * 86_400

/** Gives a browser a token by which it is known when it signs in again. No page shows it, so no script reads it. */
export const keepBrowserToken: MiddlewareHandler<WebEnv> = async (c, next) => {
  if (browserTokenOf(c) === undefined) {
    const token = toHex(c.get('world').randomBytes(32).buffer)
    const kept = { httpOnly: true, sameSite: 'Lax', maxAge: knownSeconds } as const
    setCookie(c, browserName, token, { ...hostCookie, ...kept })
  }
  await next()
}

/** Returns the token of the browser; undefined if it has none. */
export function browserTokenOf(c: PageContext): string | undefined {
  const token = getCookie(c, browserName, 'host') ?? ''
  return /^[0-9a-f]{64}$/.test(token) ? token : undefined
}

/** Reads the session token of the browser; only the database knows if the session is still valid. */
export async function readSession(c: PageContext) {
  const token = getCookie(c, name, 'host')
  return token === undefined ? undefined : readSessionToken(c.get('world'), token)
}

/** Milliseconds that a token is used before the next request moves the end of the session. */
const renewedAfterMilliseconds = 300_000

/** Moves the end of a session in use, and gives the browser its new token. */
export async function renewSession(
  c: PageContext,
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

/** Gives the browser a session, which replaces any other. */
export function keepSession(c: PageContext, token: string): void {
  setCookie(c, name, token, { ...hostCookie, httpOnly: true, sameSite: 'Lax' })
}

/** Ends the session of the browser, of any account, if it is still valid. */
export async function endSession(c: PageContext): Promise<void> {
  const { db, config } = c.get('world')
  const session = await readSession(c)
  if (!session) return
  const credential = await credentialOf(session.sid, required(config, 'API_KEY_PEPPER'))
  try {
    await bindCredential(db, credential).run('owner_leave', {})
  } catch (error) {
    const isOver = error instanceof Rejection && error.refusal.refusal === 'unauthorized'
    if (!isOver) throw error
  }
}

/** Deletes the session from the browser. */
export function dropSession(c: PageContext): void {
  deleteCookie(c, name, hostCookie)
}
