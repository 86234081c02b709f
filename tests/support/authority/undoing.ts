/** The password of an account, and how far back a session may undo items with "it was not me". */
import type { Book } from './acts.ts'
import { before } from './acts.ts'
import { counts, isOpen, proofIn } from './standing.ts'
import { guardingCodesSince, hadPasskey, isGuarded, needsPasskey, passkeysOf } from './ways-in.ts'

/**
 * Returns the current password and the time since which whoever knows it could prove anything. A password
 * that was set after a proof by the one before continues it; any other begins anew.
 */
export function passwordOf(book: Book): { password: string; since: number } {
  const set = book.acts.filter((act) => 'password' in act)
  const last = set.at(-1)
  if (!last) throw new Error('an account begins with a password')
  const first = set.findLast((act) => {
    return act.do === 'open' || proofIn(before(book, act), act.session)?.passkey !== null
  })
  return { password: last.password, since: (first ?? last).at }
}

/**
 * Returns the time after which a session may undo items with "it was not me", or undefined if it may not.
 * Items older than the session's means of proof cannot be ended by it.
 */
export function undoingSince(book: Book, session: string, since: number): number | undefined {
  const proof = isOpen(book, session) ? proofIn(book, session) : undefined
  if (!proof) return undefined
  if (proof.passkey !== null) {
    if (!counts(book, session, proof.passkey)) return undefined
    return Math.max(since, passkeysOf(book).get(proof.passkey)?.addedAt ?? 0)
  }
  const from = Math.max(since, passwordOf(book).since)
  if (needsPasskey(book) && hadPasskey(book, from)) return undefined
  return isGuarded(book) && guardingCodesSince(book) <= from ? undefined : from
}
