/** Sums of what counts against limits, and lookups of what is known, computed again each time. */

import type { Account, Key, Level, Payment, Twin } from './state.ts'
import { isLive, liveUntil } from './state.ts'

export const daySeconds = 86_400

/** Seconds after an authorization in which custody stores its signature. */
const unsignedSeconds = 20

/** Returns the time until which a payment counts, or null if it does not count. */
export function countsUntil(payment: Payment): number | null {
  const { state, finality, authorizedAt, settledAt } = payment
  if (state === 'authorized') return (authorizedAt ?? 0) + unsignedSeconds
  if (state === 'settled') {
    const usableUntil = finality === 'finalized' ? 0 : liveUntil(payment)
    return Math.max(authorizedAt ?? 0, settledAt ?? 0, usableUntil) + daySeconds
  }
  return isLive(payment) ? Infinity : null
}

export const isCounted = (twin: Twin, payment: Payment) =>
  (countsUntil(payment) ?? -Infinity) > twin.now

/** Returns the latest time at which a counting payment leaves the windows. */
export function leavesAt(twin: Twin, payment: Payment): number {
  if (payment.state === 'settled') return countsUntil(payment) ?? 0
  return Math.max(payment.validBefore ?? 0, twin.now) + daySeconds
}

/** Returns when the first of these payments leaves the windows. */
export function firstLeaves(twin: Twin, payments: Payment[]): number | null {
  if (payments.length === 0) return null
  return Math.min(...payments.map((payment) => leavesAt(twin, payment)))
}

/** Returns the payments that count against a limit now. */
function countedOf(twin: Twin, account: Account, level?: Level): Payment[] {
  return twin.payments.filter(
    (payment) =>
      payment.account === account &&
      isCounted(twin, payment) &&
      (level === undefined || payment.level === level),
  )
}

export function usedOf(twin: Twin, account: Account, level?: Level): bigint {
  return countedOf(twin, account, level).reduce((sum, { usd }) => sum + usd, 0n)
}

/** Returns when the first payment leaves the window. */
export function resetsAt(twin: Twin, account: Account, level?: Level): number | null {
  return firstLeaves(twin, countedOf(twin, account, level))
}

/** Returns the payments that count and that a key had authorized. */
export const movedBy = (twin: Twin, key: Key): Payment[] =>
  countedOf(twin, key.account).filter(({ paidBy }) => paidBy === key)

/** Decides whether a payment is within the caps of a key. */
export function isWithinCaps(twin: Twin, key: Key, { usd }: Pick<Payment, 'usd'>): boolean {
  const { payment, day } = key.caps
  const moved = movedBy(twin, key).reduce((sum, one) => sum + one.usd, 0n)
  return (payment === null || usd <= payment) && (day === null || moved + usd <= day)
}

/** Decides whether a payment may still leave its wallet. */
export const isPromised = (twin: Twin, payment: Payment) =>
  isLive(payment) && isCounted(twin, payment)

/** Returns the amount of a wallet's token that is promised and may still leave it. */
export function reservedOf(twin: Twin, { account, token }: Payment): bigint {
  return twin.payments
    .filter(
      (other) => other.account === account && other.token === token && isPromised(twin, other),
    )
    .reduce((sum, { atomic }) => sum + atomic, 0n)
}

/**
 * Decides whether a key may pay: the requesting key, or any key if the owner ticked that, until one key has
 * reserved the payment.
 */
export function mayPay(twin: Twin, key: Key, payment: Payment): boolean {
  if (key === payment.key) return true
  const isReserved =
    payment.paidBy !== null && (payment.state !== 'authorized' || isCounted(twin, payment))
  return isReserved ? key === payment.paidBy : payment.ticks.anyKey
}

/** Returns the payments to the same payee that agents made on their own word and that count now. */
export const assertedTo = (twin: Twin, { account, payee }: Payment): Payment[] =>
  countedOf(twin, account, 'agent_asserted').filter((one) => one.payee === payee)

export const isKnown = ({ account, payee }: Payment) => account.recipients.has(payee)
export const deviceName = ({ key, device }: Pick<Payment, 'key' | 'device'>) =>
  `${key.id}/${device}`
export const isDeviceKnown = (asked: Pick<Payment, 'account' | 'key' | 'device'>) =>
  asked.account.devices.has(deviceName(asked))

/** Returns a known recipient that this payee imitates. */
export function lookalikeOf({ account, payee }: Payment): string | null {
  const ends = (address: string) => `${address.slice(2, 6)}${address.slice(-4)}`.toLowerCase()
  const found = [...account.recipients.keys()].find(
    (known) => known !== payee && ends(known) === ends(payee),
  )
  return found ?? null
}

/** Returns earlier settled payments for the same resource. */
export function paidBefore(twin: Twin, { account, resource }: Payment): Payment[] {
  return twin.payments.filter(
    (one) =>
      resource !== null &&
      one.account === account &&
      one.resource === resource &&
      one.state === 'settled',
  )
}
