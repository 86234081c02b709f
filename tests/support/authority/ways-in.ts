/** The ways to sign in to an account (password, passkeys, recovery codes) and its recovery guard. */
import type { Book } from './acts.ts'
import { actsOf, day, guardSeconds } from './acts.ts'

export type Passkey = { id: string; addedAt: number; isFirst: boolean }

/** Returns the valid recovery codes with the time each was made. */
export function codesOf(book: Book): Map<string, number> {
  let codes = new Map<string, number>()
  let lastAt = 0
  for (const act of book.acts) {
    if (act.do === 'open' || act.do === 'make codes') {
      codes = new Map(act.codes.map((code) => [code, act.at]))
      lastAt = act.at
    }
    if (act.do === 'sign in' && codes.delete(act.by)) lastAt = act.at
    // If a code was made or used after the named time, all codes count as an intruder's.
    if (act.do === 'undo' && lastAt > act.since) codes.clear()
  }
  return codes
}

/** Returns the passkeys that can sign in, by id. */
export function passkeysOf(book: Book): Map<string, Passkey> {
  return standing(book).keys
}

/** Returns the removed passkeys with the time of removal. Passkeys given up as lost are not among them. */
export function removedPasskeys(book: Book): Map<string, Passkey & { removedAt: number }> {
  return standing(book).removed
}

function standing(book: Book) {
  const keys = new Map<string, Passkey>()
  const removed = new Map<string, Passkey & { removedAt: number }>()
  for (const act of book.acts) {
    if (act.do === 'add passkey') {
      keys.set(act.passkey, { id: act.passkey, addedAt: act.at, isFirst: keys.size === 0 })
    }
    const gone = act.do === 'remove passkey' ? keys.get(act.passkey) : undefined
    if (gone) removed.set(gone.id, { ...gone, removedAt: act.at })
    if (gone) keys.delete(gone.id)
    if (act.do === 'prove' && !act.isPasskey) keys.clear()
    if (act.do !== 'undo') continue
    for (const key of keys.values()) if (key.addedAt > act.since) keys.delete(key.id)
    for (const { removedAt, ...key } of removed.values()) {
      const isOlder = key.addedAt <= act.since && removedAt > act.since
      if (!isOlder || !act.putBack.includes(key.id)) continue
      keys.set(key.id, key)
      removed.delete(key.id)
    }
  }
  return { keys, removed }
}

/** Returns when all passkeys were reported lost, or undefined if they are not. */
export function lostSince(book: Book): number | undefined {
  let since: number | undefined
  for (const act of book.acts) {
    if (act.do === 'lose passkeys') since ??= act.at
    if (act.do === 'sign in' && act.way === 'passkey') since = undefined
    if (act.do === 'prove') since = undefined
    if (act.do === 'approve' && act.level === 'user_passkey') since = undefined
    if (act.do === 'approve mandate' && act.isByPasskey) since = undefined
    if (act.do === 'undo' && since !== undefined && since > act.since) since = undefined
  }
  return since
}

/** Decides whether only a passkey counts as a proof in the account. */
export function needsPasskey(book: Book): boolean {
  const lost = lostSince(book)
  const isLost = lost !== undefined && book.now - lost >= guardSeconds
  return (passkeysOf(book).size > 0 && !isLost) || book.now < lastRemovedAt(book) + guardSeconds
}

/** Returns when the last passkey was removed; minus infinity if none was, or after an undo. */
function lastRemovedAt(book: Book): number {
  let at = Number.NEGATIVE_INFINITY
  for (const [index, act] of book.acts.entries()) {
    if (act.do === 'undo') at = Number.NEGATIVE_INFINITY
    if (act.do !== 'remove passkey') continue
    const then = { now: act.at, acts: book.acts.slice(0, index + 1) }
    if (passkeysOf(then).size === 0) at = act.at
  }
  return at
}

/** Returns the time until which a recovery lets nothing be widened; minus infinity without one. */
export function guardedUntil(book: Book): number {
  let until = Number.NEGATIVE_INFINITY
  for (const act of book.acts) {
    const isRecovery = act.do === 'sign in' && act.way === 'recovery_code'
    if (isRecovery || act.do === 'lose passkeys') until = act.at + guardSeconds
    if (act.do === 'undo' && until > act.since + guardSeconds) until = Number.NEGATIVE_INFINITY
  }
  return until
}

export const isGuarded = (book: Book) => book.now < guardedUntil(book)

/** Returns when the oldest of the codes that guard the account was made. */
export function guardingCodesSince(book: Book): number {
  let since = Number.POSITIVE_INFINITY
  for (const act of actsOf(book, 'sign in')) {
    if (act.way !== 'recovery_code') continue
    const then = { now: act.at, acts: book.acts.slice(0, book.acts.indexOf(act)) }
    const madeAt = codesOf(then).get(act.by) ?? 0
    since = isGuarded(then) ? Math.min(since, madeAt) : madeAt
  }
  return since
}

/**
 * Decides whether the account has, or had within three days, an old passkey. With one, the password cannot
 * end anything with "it was not me". A passkey is old if it was added before `since` or three days ago.
 */
export function hadPasskey(book: Book, since: number): boolean {
  const { keys, removed } = standing(book)
  const lately = [...removed.values()].filter(({ removedAt }) => book.now - removedAt < 3 * day)
  return [...keys.values(), ...lately].some(
    ({ addedAt }) => addedAt <= Math.max(since, book.now - 3 * day),
  )
}
