/**
 * The rules of the limits, written as they are told: add up what counts, and compare. The SQL of
 * custody and the policy that decides before it both have to agree with this.
 */
import { decide } from '../../../shared/policy/decide.ts'
import { usual } from '../policy.ts'
import type { Account, Level, Payment, Twin } from './state.ts'
import { isLive } from './state.ts'

const daySeconds = 86_400

/** What counts against a limit now: reserved or settled, and authorized in the last 24 hours. */
export function countedOf(twin: Twin, account: Account, level?: Level): Payment[] {
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

/** What of a wallet's token is promised and may still leave it. */
export function reservedOf(twin: Twin, { account, token }: Payment): bigint {
  return twin.payments
    .filter((other) => other.account === account && other.token === token && isLive(other))
    .reduce((sum, { atomic }) => sum + atomic, 0n)
}

export const isKnown = ({ account, payee }: Payment) => account.recipients.has(payee)
export const deviceName = ({ key, device }: Payment) => `${key.id}/${device}`
export const isDeviceKnown = (payment: Payment) => payment.account.devices.has(deviceName(payment))

/** A known recipient that only looks like this payee. */
export function lookalikeOf({ account, payee }: Payment): string | null {
  const ends = (address: string) => `${address.slice(2, 6)}${address.slice(-4)}`.toLowerCase()
  const found = [...account.recipients].find(
    (known) => known !== payee && ends(known) === ends(payee),
  )
  return found ?? null
}

const isApproved = ({ approval }: Payment) => approval?.decision === 'approved'

/** Whether a payment may be authorized at this level now. */
export function fits(twin: Twin, payment: Payment, level: Level): boolean {
  const { account, usd } = payment
  const { limits } = account
  if (usedOf(twin, account) + usd > limits.cap) return false
  if (level === 'user_session') return isApproved(payment)
  if (lookalikeOf(payment) !== null) return false
  if (level === 'none') {
    const isWithin = usedOf(twin, account, 'none') + usd <= limits.automatic
    return isWithin && isKnown(payment) && isDeviceKnown(payment)
  }
  if (level !== 'agent_asserted') return false
  const isWithin = usedOf(twin, account, 'agent_asserted') + usd <= limits.asserted
  return isWithin && (isKnown(payment) || usd <= limits.newRecipient)
}

/** Throws when the policy decides another thing than these rules, with the user's word or without. */
export function confirmPolicy(twin: Twin, payment: Payment): void {
  for (const isConfirmed of [false, true]) {
    const told = decide(policyFacts(twin, payment, isConfirmed))
    const { verdict } = told
    const level = 'consentLevel' in told ? told.consentLevel : undefined
    const needed = 'neededLevel' in told ? told.neededLevel : undefined
    const wanted = wantedFrom(twin, payment, isConfirmed)
    if (`${verdict} ${level ?? needed ?? ''}` !== wanted) {
      throw new Error(`policy says ${verdict} ${level ?? needed}, the rules say ${wanted}`)
    }
  }
}

function wantedFrom(twin: Twin, payment: Payment, isConfirmed: boolean): string {
  if (usedOf(twin, payment.account) + payment.usd > payment.account.limits.cap) return 'refuse '
  if (isConfirmed && isApproved(payment)) return 'allow user_session'
  const isAsserted = fits(twin, payment, 'agent_asserted')
  if (isConfirmed && isAsserted) return 'allow agent_asserted'
  if (fits(twin, payment, 'none')) return 'allow none'
  return isAsserted ? 'confirm agent_asserted' : 'confirm user_session'
}

function policyFacts(twin: Twin, payment: Payment, userConfirmed: boolean) {
  const { account } = payment
  const window = (limit: bigint, level?: Level) => ({
    limit,
    spent: usedOf(twin, account, level),
    resetsAt: null,
  })
  return {
    ...usual,
    amountUsdMicros: payment.usd,
    automaticDaily: window(account.limits.automatic, 'none'),
    assertedDaily: window(account.limits.asserted, 'agent_asserted'),
    dailySpendingCap: window(account.limits.cap),
    assertedNewRecipientLimit: account.limits.newRecipient,
    recipientKnown: isKnown(payment),
    deviceKnown: isDeviceKnown(payment),
    similarRecipient: lookalikeOf(payment),
    userConfirmed,
    ownerApproved: isApproved(payment) ? ('user_session' as const) : null,
  }
}
