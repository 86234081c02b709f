/** Known recipients and devices of an account, derived from the owner's acts, with the act of each. */
import type { Act, ActOf, Book } from './acts.ts'
import { isOfLine } from './agents.ts'
import { askerAt, paymentAsked } from './asked.ts'

export type Knowing = ActOf<'add recipient' | 'approve'>

/** Returns the known addresses with the act that made each known. */
export function knownRecipients(book: Book): Map<string, Knowing> {
  const known = new Map<string, Knowing>()
  for (const act of book.acts) {
    if (act.do === 'add recipient') keep(known, act.address, act)
    if (act.do === 'approve' && act.ticks.payee) {
      keep(known, paymentAsked(book, act.payment).payee, act)
    }
    if (act.do === 'remove recipient') known.delete(act.address)
    forget(known, act, (by) => by.do === 'approve' && isAskedBy(book, by, act))
  }
  return known
}

/** Returns the known devices (key and fingerprint) with the act that made each known. */
export function knownDevices(book: Book): Map<string, Knowing> {
  const known = new Map<string, Knowing>()
  for (const act of book.acts) {
    if (act.do === 'approve' && act.ticks.device) {
      const { key, device } = askerAt(book, act)
      keep(known, deviceName(key, device), act)
    }
    if (act.do === 'rotate key') inherit(known, act)
    if (act.do === 'remove device') known.delete(deviceName(act.key, act.device))
    if (act.do === 'forget all by') {
      for (const name of known.keys()) if (isOfLine(book, keyOf(name), act.key)) known.delete(name)
    }
    forget(known, act, () => false)
  }
  return known
}

export const deviceName = (key: string, device: string) => `${key} ${device}`
const keyOf = (name: string) => name.split(' ')[0] ?? ''

/** Returns a known recipient that an address imitates: both share their first and last four digits. */
export function imitatedBy(book: Book, address: string): string | undefined {
  const look = (one: string) => `${one.slice(0, 6)}${one.slice(-4)}`.toLowerCase()
  return [...knownRecipients(book).keys()].find(
    (one) => one !== address && look(one) === look(address),
  )
}

/** Adds an entry unless it is known already; the first act stays its origin. */
function keep(known: Map<string, Knowing>, name: string, by: Knowing): void {
  if (!known.has(name)) known.set(name, by)
}

/**
 * Removes entries that a declined payment's approval had added, and entries added after the time of an "it
 * was not me".
 */
function forget(known: Map<string, Knowing>, act: Act, isNamed: (by: Knowing) => boolean): void {
  for (const [name, by] of known) {
    const isTakenBack = act.do === 'decline' && by.do === 'approve' && by.payment === act.payment
    const isOfSince = act.do === 'undo' && by.at > act.since
    if (isTakenBack || isOfSince || (act.do === 'forget all by' && isNamed(by))) known.delete(name)
  }
}

function isAskedBy(book: Book, by: ActOf<'approve'>, act: Act): boolean {
  return act.do === 'forget all by' && isOfLine(book, askerAt(book, by).key, act.key)
}

/**
 * Copies the devices of a key to the key that replaces it. What an approval had made known stays its work,
 * though another session may have done the copying, and later.
 */
function inherit(known: Map<string, Knowing>, { at, session, ...act }: ActOf<'rotate key'>): void {
  for (const [name, by] of Array.from(known)) {
    const [key = '', device = ''] = name.split(' ')
    if (key === act.key) keep(known, deviceName(act.successor, device), { ...by, at, session })
  }
}
