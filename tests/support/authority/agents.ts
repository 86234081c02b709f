/** Which keys and apps are in service, whom they stand for, and what the owner lets them beside paying. */
import type { ActOf, Book, LimitName, Permission, Scope } from './acts.ts'
import { actsOf, before, day, hour, isUndone } from './acts.ts'

/** Keys are made with this many days. */
export const keyDays = 90

const covered: Record<Scope, readonly Scope[]> = {
  full: ['full', 'pay', 'vault', 'read'],
  pay: ['pay', 'vault', 'read'],
  vault: ['vault'],
  read: ['read'],
}

/** Whether a key or app is in service and may do what needs a scope. */
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
    // The same app let in anew takes its own place.
    if (act.do === 'begin') return act.at > madeAt && isApp(book, agent)
    if (act.do !== 'rotate key' || act.key !== agent) return false
    return book.now >= act.at + act.overlapHours * hour
  })
}

/**
 * When the owner revoked a key, or the time of one that was replaced ran out, whereafter it still freezes for
 * three days, as long as it was made for; one of somebody else does not.
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

/** Whom a key or app stands for: the first of those whose place it takes. */
export function holderOf(book: Book, agent: string): string {
  const rotated = actsOf(book, 'rotate key').find(({ successor }) => successor === agent)
  if (rotated) return holderOf(book, rotated.key)
  return isApp(book, agent) ? (actsOf(book, 'begin')[0]?.app ?? agent) : agent
}

/** Whether one took the place of the other, or both of a third. */
export function isOfLine(book: Book, one: string, other: string): boolean {
  return holderOf(book, one) === holderOf(book, other)
}

export function isFrozen(book: Book): boolean {
  return book.acts.findLast((act) => act.do === 'freeze' || act.do === 'unfreeze')?.do === 'freeze'
}

/** A limit as the owner set it; what was raised goes back with "it was not me", what is lower stays. */
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
 * What the owner lets agents do beside: it holds while it was not taken back or was somebody else's, and
 * a key that takes the place of another has what that one had.
 */
export function isPermitted(book: Book, what: Permission, to: string): boolean {
  const last = actsOf(book, 'permit').findLast((act) => act.what === what && act.to === to)
  if (last) return last.permits && !isUndone(book, last.at)
  const rotated = actsOf(book, 'rotate key').find(({ successor }) => successor === to)
  return rotated !== undefined && isPermitted(before(book, rotated), what, rotated.key)
}
