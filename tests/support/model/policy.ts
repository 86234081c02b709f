/**
 * The rules of the limits in their simplest form: add up what counts, and compare. Both custody's SQL and
 * the policy that decides before it must agree with this.
 */
import { factsOf } from '../../../shared/payments/decide/decision-facts.ts'
import { paymentWithFactsRow } from '../../../shared/payments/payment-with-facts.ts'
import { decide } from '../../../shared/policy/decide.ts'
import {
  assertedTo,
  isDeviceKnown,
  isKnown,
  isWithinCaps,
  lookalikeOf,
  mayPay,
  paidBefore,
  usedOf,
} from './limits.ts'
import { carries, hostOf, isLoopback, mandatesFor } from './mandates.ts'
import type { Key, Level, Mandate, Payment, Twin } from './state.ts'

/** Returns the consent level of the owner's approval of a payment. */
export function approvedAt({ approval }: Payment): 'user_session' | 'user_passkey' | null {
  if (approval?.decision !== 'approved') return null
  return approval.consent?.signed ? 'user_passkey' : 'user_session'
}

/** Decides whether a payment may be authorized at this level now. */
export function fits(
  twin: Twin,
  key: Key,
  payment: Payment,
  level: Level,
  mandate: Mandate | null = null,
): boolean {
  const { account, usd } = payment
  const { limits } = account
  if (usedOf(twin, account) + usd > limits.cap) return false
  if (level === 'user_session' || level === 'user_passkey') return approvedAt(payment) === level
  if (level === 'mandate') return mandate !== null && carries(twin, key, mandate, payment)
  if (lookalikeOf(payment) !== null) return false
  if (level === 'none') {
    const isWithin = usedOf(twin, account, 'none') + usd <= limits.automatic
    return isWithin && isKnown(payment) && isDeviceKnown(payment) && key === payment.key
  }
  if (level !== 'agent_asserted') return false
  const isWithin = usedOf(twin, account, 'agent_asserted') + usd <= limits.asserted
  const before = assertedTo(twin, payment).reduce((sum, one) => sum + one.usd, 0n)
  return isWithin && (isKnown(payment) || before + usd <= limits.newRecipient)
}

/**
 * Throws if the policy decides differently from these rules on the ledger's facts, with the user's
 * confirmation or without.
 */
export async function confirmPolicy(
  twin: Twin,
  key: Key,
  payment: Payment,
  told: unknown,
): Promise<void> {
  const entered = paymentWithFactsRow.parse(told)
  // A payment that belongs to another key gets no decision.
  if (!mayPay(twin, key, payment)) return
  for (const isConfirmed of [false, true]) {
    const decided = decide(await factsOf(entered, isConfirmed))
    const { verdict } = decided
    const level = 'consentLevel' in decided ? decided.consentLevel : undefined
    const needed = 'neededLevel' in decided ? decided.neededLevel : undefined
    const mandate = 'mandateId' in decided ? ` ${decided.mandateId}` : ''
    const said = `${verdict} ${level ?? needed ?? ''}${mandate}`
    const isCapped = !isWithinCaps(twin, key, payment)
    const wanted = isCapped ? 'refuse ' : wantedFrom(twin, key, payment, isConfirmed)
    if (said !== wanted) throw new Error(`policy says ${said}, the rules say ${wanted}`)
  }
}

function wantedFrom(twin: Twin, key: Key, payment: Payment, isConfirmed: boolean): string {
  const { account, usd } = payment
  if (usedOf(twin, account) + usd > account.limits.cap) return 'refuse '
  const approved = approvedAt(payment)
  if (isConfirmed && approved) return `allow ${approved}`
  const best = bestOf(twin, key, payment)
  if (best) return `allow mandate ${best.id}`
  const isAsserted = fits(twin, key, payment, 'agent_asserted')
  if (isConfirmed && isAsserted) return 'allow agent_asserted'
  const isUsual = isPlaceUsual(twin, payment, false) && isPriceUsual(twin, payment)
  if (fits(twin, key, payment, 'none') && isUsual) return 'allow none'
  if (isAsserted) return 'confirm agent_asserted'
  return account.passkeys.length > 0 ? 'confirm user_passkey' : 'confirm user_session'
}

/** Returns the narrowest of the mandates that cover a payment. */
function bestOf(twin: Twin, key: Key, payment: Payment): Mandate | undefined {
  const host = hostOf(payment)
  const placeOf = ({ domain, payTo, expiresAt, id }: Mandate) => {
    const isExact = host === domain || isLoopback(domain, host)
    return [isExact ? 0 : 1, payTo === null ? 1 : 0, expiresAt, id].join(' ')
  }
  const covering = mandatesFor(twin, payment).filter(
    (one) =>
      carries(twin, key, one, payment) &&
      // The current second is not over when the decision is made.
      one.expiresAt > twin.now + 1 &&
      isPlaceUsual(twin, payment, one.payTo !== null),
  )
  return covering.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))[0]
}

/** Decides whether payee and token match earlier payments for the same resource. */
function isPlaceUsual(twin: Twin, payment: Payment, isPayeeNamed: boolean): boolean {
  const before = paidBefore(twin, payment)
  if (before.length === 0) return true
  const isSamePayee = isPayeeNamed || before.some(({ payee }) => payee === payment.payee)
  return isSamePayee && before.some(({ token }) => token === payment.token)
}

/** Decides whether it costs at most twice what the dearest of the earlier payments did. */
function isPriceUsual(twin: Twin, payment: Payment): boolean {
  const before = paidBefore(twin, payment)
  return before.length === 0 || before.some(({ usd }) => payment.usd <= 2n * usd)
}
