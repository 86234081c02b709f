/** The ways in that an account has: its password, its passkeys and its recovery codes, and its guard. */
import type { Book } from './acts.ts'
import { actsOf, day, guardSeconds } from './acts.ts'

export type Passkey = { id: string; addedAt: number; isFirst: boolean }

/** The password that lets the owner in, and since when. */
export function passwordOf(book: Book): { password: string; since: number } {
  const set = book.acts.filter(({ do: name }) => ['open', 'set password', 'undo'].includes(name))
  const last = set.findLast((act) => 'password' in act)
  if (!last || !('password' in last)) throw new Error('an account begins with a password')
  return { password: last.password, since: last.at }
}

/** The recovery codes that are good, with when they were made. */
export function codesOf(book: Book): Map<string, number> {
  let codes = new Map<string, number>()
  let lastAt = 0
  for (const act of book.acts) {
    if (act.do === 'open' || act.do === 'make codes') {
      codes = new Map(act.codes.map((code) => [code, act.at]))
      lastAt = act.at
    }
    if (act.do === 'sign in' && codes.delete(act.by)) lastAt = act.at
    // Codes of which one was made or used since are all of somebody else.
    if (act.do === 'undo' && lastAt > act.since) codes.clear()
  }
  return codes
}

/** The passkeys that sign in, by id. */
export function passkeysOf(book: Book): Map<string, Passkey> {
  return standing(book).keys
}

/** Passkeys that were removed, with when; those that were given up for lost are gone for good. */
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

/** Since when all passkeys are given up for lost; undefined where they are not. */
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

/** Whether nothing but a passkey is a proof in the account. */
export function needsPasskey(book: Book): boolean {
  const lost = lostSince(book)
  const isLost = lost !== undefined && book.now - lost >= guardSeconds
  return (passkeysOf(book).size > 0 && !isLost) || book.now < lastRemovedAt(book) + guardSeconds
}

/** When the last passkey was removed; long ago where it was not, or was taken back since. */
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

/** Until when nothing is widened after a recovery; in the past where there is none. */
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

/** When the oldest of the codes was made that guard the account. */
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
 * Whether the account has, or had within three days, a passkey beside which its password ends nothing as
 * "not me": one that is older than a time or than three days.
 */
export function hadPasskey(book: Book, since: number): boolean {
  const { keys, removed } = standing(book)
  const lately = [...removed.values()].filter(({ removedAt }) => book.now - removedAt < 3 * day)
  return [...keys.values(), ...lately].some(
    ({ addedAt }) => addedAt <= Math.max(since, book.now - 3 * day),
  )
}
