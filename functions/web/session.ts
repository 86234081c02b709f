/**
 * The cookie in which a browser carries its session. Lax and not strict: links from mails and chats
 * have to find the owner signed in, and no GET changes anything.
 */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { readSessionToken } from '../../shared/auth/session.ts'
import type { Visit } from './visit.ts'

const name = 'aoa_session'
const host = { path: '/', secure: true, prefix: 'host' } as const

/** The session whose token the browser carries. Whether it still stands the database knows. */
export async function readSession(c: Visit) {
  const token = getCookie(c, name, 'host')
  return token === undefined ? undefined : readSessionToken(c.get('world'), token)
}

/** Gives the browser a session, in place of any that it had. */
export function keepSession(c: Visit, token: string): void {
  setCookie(c, name, token, { ...host, httpOnly: true, sameSite: 'Lax' })
}

/** Takes the session from the browser. */
export function dropSession(c: Visit): void {
  deleteCookie(c, name, host)
}
