/** Decides what an owner session may do at a moment: unproven, guarded or proven. */
import type { ActOf, Book, Way } from './acts.ts'
import { actsOf, hour, minute } from './acts.ts'
import { isGuarded, lostSince, needsPasskey, passkeysOf } from './ways-in.ts'

const proofSeconds = 10 * minute
const unusedSeconds = 30 * minute
const longestSeconds = 12 * hour

/** Decides whether a session is open: not ended, used within half an hour, and younger than 12 hours. */
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
  // After a recovery the other sessions stay open, because one may be the owner's.
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

/** Returns the last proof in a session that is still valid; a recovery code is not a proof. */
export function proofIn(book: Book, session: string): Proof | undefined {
  let proof: Proof | undefined
  for (const [index, act] of book.acts.entries()) {
    if (!('session' in act) || act.session !== session) continue
    if (act.do === 'sign in' && act.way !== 'recovery_code') {
      proof = { at: act.at, passkey: act.way === 'passkey' ? act.by : null }
    }
    if (act.do === 'prove') proof = { at: act.at, passkey: act.isPasskey ? act.by : null }
    // A proof by a passkey stays as it was.
    if (act.do === 'set password' && !proof?.passkey) proof = { at: act.at, passkey: null }
    if (act.do === 'undo') proof = { at: act.at, passkey: proof?.passkey ?? null }
    // The first passkey counts as used in the session that adds it.
    const then = { now: act.at, acts: book.acts.slice(0, index + 1) }
    if (act.do === 'add passkey' && proof && !proof.passkey && counts(then, session, act.passkey)) {
      proof = { ...proof, passkey: act.passkey }
    }
  }
  return proof && book.now - proof.at < proofSeconds ? proof : undefined
}

/** Decides whether a passkey is a proof in a session: it is older, or was the account's first. */
export function counts(book: Book, session: string, passkey: string): boolean {
  const key = passkeysOf(book).get(passkey)
  const begun = beginningOf(book, session)
  return key !== undefined && begun !== undefined && (key.isFirst || key.addedAt <= begun.at)
}

/** Decides whether the session has a valid proof, by a passkey if the account has one. */
export function isProven(book: Book, session: string): boolean {
  if (!isOpen(book, session)) return false
  const proof = proofIn(book, session)
  if (!proof) return false
  if (proof.passkey !== null && counts(book, session, proof.passkey)) return true
  return !needsPasskey(book)
}

/** Decides whether a session may widen access: it is proven and no recovery guards the account. */
export const mayWiden = (book: Book, session: string) => isProven(book, session) && !isGuarded(book)

/**
 * Decides whether a session may end keys, apps and sessions that could freeze the account. After a
 * recovery, only a session begun with a passkey may.
 */
export function mayEndBrakes(book: Book, session: string): boolean {
  return isOpen(book, session) && (!isGuarded(book) || wayOf(book, session) === 'passkey')
}

export function maySetPassword(book: Book, session: string): boolean {
  if (!isOpen(book, session)) return false
  const isRecovered = wayOf(book, session) === 'recovery_code'
  const hasLostAll = passkeysOf(book).size === 0 || lostSince(book) !== undefined
  return (isRecovered && hasLostAll) || isProven(book, session)
}

/**
 * Decides whether a session may make new recovery codes. After a recovery, only a proven session begun with
 * a passkey may invalidate codes that an intruder may hold.
 */
export function mayMakeCodes(book: Book, session: string): boolean {
  if (mayWiden(book, session)) return true
  return wayOf(book, session) === 'passkey' && isProven(book, session)
}

export function mayLosePasskeys(book: Book, session: string): boolean {
  const isRecovered = wayOf(book, session) === 'recovery_code'
  return isOpen(book, session) && isRecovered && passkeysOf(book).size > 0 && !lostSince(book)
}

/** Decides whether the owner's decision in a session counts as consent, with or without this passkey. */
export function mayConsent(book: Book, session: string, passkey: string | null): boolean {
  if (!isOpen(book, session) || isGuarded(book)) return false
  if (passkey !== null) return counts(book, session, passkey)
  return !needsPasskey(book) && mayWiden(book, session)
}
