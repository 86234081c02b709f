/** What a session of the owner's may do at a moment: unproven, guarded or proven. */
import type { ActOf, Book, Way } from './acts.ts'
import { actsOf, hour, minute } from './acts.ts'
import {
  guardingCodesSince,
  hadPasskey,
  isGuarded,
  lostSince,
  needsPasskey,
  passkeysOf,
  passwordOf,
} from './ways-in.ts'

const proofSeconds = 10 * minute
const unusedSeconds = 30 * minute
const longestSeconds = 12 * hour

/** Whether a session is open: nobody ended it, and it was used within half an hour. */
export function isOpen(book: Book, session: string): boolean {
  const begun = beginningOf(book, session)
  if (!begun) return false
  const used = book.acts.findLast(
    (act) => act.do === 'touch' && act.session === session && act.at >= begun.at,
  )
  const usedAt = Math.max(begun.at, used?.at ?? begun.at)
  if (book.now >= usedAt + unusedSeconds || book.now >= begun.at + longestSeconds) return false
  return !book.acts.some((act) => act.at > begun.at && ends(book, act, session))
}

function ends(book: Book, act: Book['acts'][number], session: string): boolean {
  if (act.do === 'end session') return act.ended === session
  if (!('session' in act) || act.session === session) return false
  if (act.do === 'end other sessions' || act.do === 'undo') return true
  // After a recovery the others stay, for one may be the owner's.
  if (act.do !== 'set password') return false
  return !isGuarded({ now: act.at, acts: book.acts.slice(0, book.acts.indexOf(act)) })
}

function beginningOf(book: Book, session: string): ActOf<'sign in'> | undefined {
  return actsOf(book, 'sign in').find((act) => act.session === session)
}

export function wayOf(book: Book, session: string): Way | undefined {
  return beginningOf(book, session)?.way
}

type Proof = { at: number; passkey: string | null }

/** The last proof in a session; a recovery code is none. */
export function proofIn(book: Book, session: string): Proof | undefined {
  let proof: Proof | undefined
  for (const [index, act] of book.acts.entries()) {
    if (!('session' in act) || act.session !== session) continue
    if (act.do === 'sign in' && act.way !== 'recovery_code') {
      proof = { at: act.at, passkey: act.way === 'passkey' ? act.by : null }
    }
    if (act.do === 'prove') proof = { at: act.at, passkey: act.isPasskey ? act.by : null }
    if (act.do === 'set password') proof = { at: act.at, passkey: null }
    if (act.do === 'undo') proof = { at: act.at, passkey: proof?.passkey ?? null }
    // The first passkey is shown when it is added.
    const then = { now: act.at, acts: book.acts.slice(0, index + 1) }
    if (act.do === 'add passkey' && proof && !proof.passkey && counts(then, session, act.passkey)) {
      proof = { ...proof, passkey: act.passkey }
    }
  }
  return proof && book.now - proof.at < proofSeconds ? proof : undefined
}

/** Whether a passkey proves anything in a session: it is older than that, or was the account's first. */
export function counts(book: Book, session: string, passkey: string): boolean {
  const key = passkeysOf(book).get(passkey)
  const begun = beginningOf(book, session)
  return key !== undefined && begun !== undefined && (key.isFirst || key.addedAt <= begun.at)
}

/** Whether the owner has proven itself there, by a passkey where the account has one. */
export function isProven(book: Book, session: string): boolean {
  if (!isOpen(book, session)) return false
  const proof = proofIn(book, session)
  if (!proof) return false
  if (proof.passkey !== null && counts(book, session, proof.passkey)) return true
  return !needsPasskey(book)
}

/** What widens: a proof, and no recovery a short time ago. */
export const mayWiden = (book: Book, session: string) => isProven(book, session) && !isGuarded(book)

/** What could freeze the account is ended after a recovery only by who signed in with a passkey. */
export function mayEndBrakes(book: Book, session: string): boolean {
  return isOpen(book, session) && (!isGuarded(book) || wayOf(book, session) === 'passkey')
}

export function maySetPassword(book: Book, session: string): boolean {
  if (!isOpen(book, session)) return false
  const isRecovered = wayOf(book, session) === 'recovery_code'
  const hasLostAll = passkeysOf(book).size === 0 || lostSince(book) !== undefined
  return (isRecovered && hasLostAll) || isProven(book, session)
}

/** After a recovery only who signed in with a passkey makes worthless what somebody has found. */
export function mayMakeCodes(book: Book, session: string): boolean {
  if (mayWiden(book, session)) return true
  return wayOf(book, session) === 'passkey' && isProven(book, session)
}

export function mayLosePasskeys(book: Book, session: string): boolean {
  const isRecovered = wayOf(book, session) === 'recovery_code'
  return isOpen(book, session) && isRecovered && passkeysOf(book).size > 0 && !lostSince(book)
}

/** Whether the owner's word in a session is consent, signed by this passkey or without one. */
export function mayConsent(book: Book, session: string, passkey: string | null): boolean {
  if (!isOpen(book, session) || isGuarded(book)) return false
  if (passkey !== null) return counts(book, session, passkey)
  return !needsPasskey(book) && mayWiden(book, session)
}

/**
 * The time from which a session may end what was made as "not me"; undefined where it may not. Nothing
 * that is older than the proof of the session ends by it.
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
