/**
 * The rules of the limits, written as they are told: add up what counts, and compare. The SQL of
 * custody and the policy that decides before it both have to agree with this.
 */
import { decide } from '../../../shared/policy/decide.ts'
import { isDeviceKnown, isKnown, lookalikeOf, usedOf } from './limits.ts'
import { carries } from './mandates.ts'
import type { Level, Mandate, Payment, Twin } from './state.ts'

/** The level at which the owner approved a payment. */
export function approvedAt({ approval }: Payment): 'user_session' | 'user_passkey' | null {
  if (approval?.decision !== 'approved') return null
  return approval.consent?.signed ? 'user_passkey' : 'user_session'
}

/** Whether a payment may be authorized at this level now. */
export function fits(
  twin: Twin,
  payment: Payment,
  level: Level,
  mandate: Mandate | null = null,
): boolean {
  const { account, usd } = payment
  const { limits } = account
  if (usedOf(twin, account) + usd > limits.cap) return false
  if (level === 'user_session' || level === 'user_passkey') return approvedAt(payment) === level
  if (level === 'mandate') return mandate !== null && carries(twin, mandate, payment)
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
  if (isConfirmed && approvedAt(payment)) return 'allow user_session'
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
    amountUsdMicros: payment.usd,
    automaticDaily: window(account.limits.automatic, 'none'),
    assertedDaily: window(account.limits.asserted, 'agent_asserted'),
    dailySpendingCap: window(account.limits.cap),
    assertedNewRecipientLimit: account.limits.newRecipient,
    recipientKnown: isKnown(payment),
    deviceKnown: isDeviceKnown(payment),
    similarRecipient: lookalikeOf(payment),
    userConfirmed,
    ownerApproved: approvedAt(payment) !== null,
  }
}
