/** What counts against limits, and what is known: added up and looked up anew each time. */

import type { Account, Key, Level, Payment, Twin } from './state.ts'
import { isLive } from './state.ts'

export const daySeconds = 86_400

/** What counts against a limit now: reserved or settled, and authorized in the last 24 hours. */
function countedOf(twin: Twin, account: Account, level?: Level): Payment[] {
  return twin.payments.filter(
    (payment) =>
      payment.account === account &&
      (isLive(payment) || payment.state === 'settled') &&
      payment.authorizedAt !== null &&
      payment.authorizedAt > twin.now - daySeconds &&
      (level === undefined || payment.level === level),
  )
}

export function usedOf(twin: Twin, account: Account, level?: Level): bigint {
  return countedOf(twin, account, level).reduce((sum, { usd }) => sum + usd, 0n)
}

/** When the oldest payment leaves the window. */
export function resetsAt(twin: Twin, account: Account, level?: Level): number | null {
  const times = countedOf(twin, account, level).map(({ authorizedAt }) => authorizedAt ?? 0)
  return times.length === 0 ? null : Math.min(...times) + daySeconds
}

/** What a key had authorized in the last 24 hours and may still move. */
export const movedBy = (twin: Twin, key: Key): Payment[] =>
  countedOf(twin, key.account).filter(({ paidBy }) => paidBy === key)

/** Whether a key may move that much more by itself. */
export function isWithinCaps(twin: Twin, key: Key, { usd }: Pick<Payment, 'usd'>): boolean {
  const { payment, day } = key.caps
  const moved = movedBy(twin, key).reduce((sum, one) => sum + one.usd, 0n)
  return (payment === null || usd <= payment) && (day === null || moved + usd <= day)
}

/** What of a wallet's token is promised and may still leave it. */
export function reservedOf(twin: Twin, { account, token }: Payment): bigint {
  return twin.payments
    .filter((other) => other.account === account && other.token === token && isLive(other))
    .reduce((sum, { atomic }) => sum + atomic, 0n)
}

export const isKnown = ({ account, payee }: Payment) => account.recipients.has(payee)
export const deviceName = ({ key, device }: Pick<Payment, 'key' | 'device'>) =>
  `${key.id}/${device}`
export const isDeviceKnown = (asked: Pick<Payment, 'account' | 'key' | 'device'>) =>
  asked.account.devices.has(deviceName(asked))

/** A known recipient that only looks like this payee. */
export function lookalikeOf({ account, payee }: Payment): string | null {
  const ends = (address: string) => `${address.slice(2, 6)}${address.slice(-4)}`.toLowerCase()
  const found = [...account.recipients].find(
    (known) => known !== payee && ends(known) === ends(payee),
  )
  return found ?? null
}

/** What was paid for the same thing before. */
export function paidBefore(twin: Twin, { account, resource }: Payment): Payment[] {
  return twin.payments.filter(
    (one) =>
      resource !== null &&
      one.account === account &&
      one.resource === resource &&
      one.state === 'settled',
  )
}
