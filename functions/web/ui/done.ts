/**
 * Tells on a page what the form before it did. A cookie carries the act from one to the other, so that no link
 * has a page say it.
 */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { PageContext } from '../visit.ts'

/** Sentences by act. */
export const doneWords = {
  unfrozen: 'The account is no longer frozen. Agents can pay again.',
  key_revoked: 'The key is revoked and no longer works.',
  app_disconnected: 'The app is disconnected and has no access any more.',
  recipient_added: 'The recipient is now known.',
  removed: 'Removed. You will be asked about it again.',
  capped: 'The caps are saved and apply from now on.',
  approved:
    'Approved. Transfers are sent; purchases are left to the agent, which gets what it buys.',
  approved_unsent:
    'Approved. Some transfers could not be sent: their pages say why. Purchases are left to the agent.',
  declined_all: 'All waiting payments are declined.',
  signed_out: 'You are signed out.',
  few: 'Select at least two waiting payments to approve them together.',
  unsure: 'Nothing has changed. Tick the box beside the button first.',
} as const

/** Act that the page after it tells. */
export type Done = keyof typeof doneWords

const cookie = 'aoa_done'
const ownHost = { path: '/', secure: true, prefix: 'host' } as const
const keptSeconds = 60

/** Has the next page tell the act. */
export function keepDone(c: PageContext, done: Done): void {
  setCookie(c, cookie, done, { ...ownHost, httpOnly: true, sameSite: 'Lax', maxAge: keptSeconds })
}

/** Returns the act that this page tells, once, and if it is done rather than still to be repeated. */
export function takeDone(c: PageContext): { words: string; isDone: boolean } | undefined {
  const name = getCookie(c, cookie, 'host')
  const told = Object.entries(doneWords).find(([act]) => act === name)
  if (!told) return undefined
  deleteCookie(c, cookie, ownHost)
  return { words: told[1], isDone: name !== 'few' && name !== 'unsure' }
}
