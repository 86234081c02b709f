/** Rules about keys and apps: which are active, their holder, and permissions besides paying. */
import type { ActOf, Book, LimitName, Permission, Scope } from './acts.ts'
import { actsOf, before, day, hour, isUndone } from './acts.ts'

/** Lifetime of a new key in days. */
export const keyDays = 90

const covered: Record<Scope, readonly Scope[]> = {
  full: ['full', 'pay', 'vault', 'read'],
  pay: ['pay', 'vault', 'read'],
  vault: ['vault'],
  read: ['read'],
}

/** Decides whether a key or app is active and its scope covers the needed one. */
export function isServing(book: Book, agent: string, needed: Scope): boolean {
  const scope = scopeOf(book, agent)
  return scope !== undefined && covered[scope].includes(needed) && isInService(book, agent)
}

export function isInService(book: Book, agent: string): boolean {
  const madeAt = madeAtOf(book, agent)
  if (madeAt === undefined || isUndone(book, madeAt)) return false
  if (book.now >= madeAt + daysOf(book, agent) * day) return false
  return !book.acts.some((act) => {
    if (act.do === 'revoke key') return act.key === agent
    if (act.do === 'disconnect') return act.app === agent
    // An app that is connected again replaces its earlier connection.
    if (act.do === 'begin') return act.at > madeAt && isApp(book, agent)
    if (act.do !== 'rotate key' || act.key !== agent) return false
    return book.now >= act.at + act.overlapHours * hour
  })
}

/**
 * Returns when a key was revoked, or when the overlap after its replacement ended. From then on it can
 * still freeze the account for three days, but not past its own expiry. Returns undefined for a key that
 * was undone or has expired.
 */
export function endedAt(book: Book, key: string): number | undefined {
  const madeAt = madeAtOf(book, key)
  if (madeAt === undefined || isUndone(book, madeAt)) return undefined
  if (book.now >= madeAt + daysOf(book, key) * day) return undefined
  const revoked = actsOf(book, 'revoke key').find((act) => act.key === key)
  const replaced = actsOf(book, 'rotate key').filter((act) => act.key === key)
  const ends = replaced.map(({ at, overlapHours }) => at + overlapHours * hour)
  return revoked?.at ?? (ends.length > 0 ? Math.max(...ends) : undefined)
}

const isApp = (book: Book, agent: string) => beginOf(book, agent) !== undefined
const beginOf = (book: Book, agent: string) =>
  actsOf(book, 'begin').find(({ app }) => app === agent)
const letIn = (book: Book, { code }: ActOf<'begin'>) =>
  actsOf(book, 'let in').find((act) => act.code === code)

function madeAtOf(book: Book, agent: string): number | undefined {
  const made = actsOf(book, 'make key').find(({ key }) => key === agent)
  const rotated = actsOf(book, 'rotate key').find(({ successor }) => successor === agent)
  return (made ?? rotated ?? beginOf(book, agent))?.at
}

function daysOf(book: Book, agent: string): number {
  const begun = beginOf(book, agent)
  return begun ? (letIn(book, begun)?.days ?? 0) : keyDays
}

function scopeOf(book: Book, agent: string): Scope | undefined {
  const begun = beginOf(book, agent)
  if (begun) return letIn(book, begun)?.scope
  const made = actsOf(book, 'make key').find(({ key }) => key === agent)
  const rotated = actsOf(book, 'rotate key').find(({ successor }) => successor === agent)
  return made?.scope ?? (rotated ? scopeOf(book, rotated.key) : undefined)
}

/** Returns the holder of a key or app: the first key of its rotations, or the app's first connection. */
export function holderOf(book: Book, agent: string): string {
  const rotated = actsOf(book, 'rotate key').find(({ successor }) => successor === agent)
  if (rotated) return holderOf(book, rotated.key)
  return isApp(book, agent) ? (actsOf(book, 'begin')[0]?.app ?? agent) : agent
}

/** Decides whether two keys or apps have the same holder. */
export function isOfLine(book: Book, one: string, other: string): boolean {
  return holderOf(book, one) === holderOf(book, other)
}

export const isFrozen = (book: Book) => freezesOf(book).frozenAt !== undefined

/**
 * Returns the number of freezes so far, and since when the last one stands. "It was not me" restores a freeze
 * that is older than its time.
 */
export function freezesOf(book: Book): { count: number; frozenAt: number | undefined } {
  let count = 0
  let frozenAt: number | undefined
  const freeze = (at: number) => {
    if (frozenAt === undefined) count += 1
    frozenAt ??= at
  }
  let lifted: { at: number; frozenAt: number }[] = []
  for (const act of book.acts) {
    if (act.do === 'freeze') freeze(act.at)
    if (act.do === 'unfreeze') {
      if (frozenAt !== undefined) lifted.push({ at: act.at, frozenAt })
      frozenAt = undefined
    }
    if (act.do === 'undo') {
      const { at, since } = act
      if (lifted.some((one) => one.at > since && one.frozenAt <= since)) freeze(at)
      lifted = lifted.filter((one) => one.at <= since)
    }
  }
  return { count, frozenAt }
}

/** Returns a limit as the owner set it. "It was not me" undoes an increase and keeps a decrease. */
export function limitOf(book: Book, name: LimitName): number {
  let micros = 0
  for (const act of book.acts) {
    if (act.do === 'open') micros = act.limits[name]
    if (act.do === 'set limit' && act.name === name) micros = act.micros
    if (act.do === 'undo') micros = Math.min(micros, limitAt(book, name, act.since))
  }
  return micros
}

function limitAt(book: Book, name: LimitName, time: number): number {
  return limitOf({ now: time, acts: book.acts.filter(({ at }) => at <= time) }, name)
}

/**
 * Decides whether a permission of an agent is in force: it was neither withdrawn nor undone. A successor
 * key inherits the permission of the key that it replaces.
 */
export function isPermitted(book: Book, what: Permission, to: string): boolean {
  const last = actsOf(book, 'permit').findLast((act) => act.what === what && act.to === to)
  if (last) return last.permits && !isUndone(book, last.at)
  const rotated = actsOf(book, 'rotate key').find(({ successor }) => successor === to)
  return rotated !== undefined && isPermitted(before(book, rotated), what, rotated.key)
}
