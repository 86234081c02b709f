/**
 * The only place that decides about a payment. Pure: the same facts give the same answer. It never grants
 * more than SQL will commit; SQL checks the same limits again when requests race.
 */
import type { ConsentLevel, Facts, Window } from './facts.ts'
import { bestCover, type Uncovered, uncoveredBy } from './mandate.ts'
import { type HistoryReasonCode, historyReasons } from './memory.ts'

/** Reason why a payment does not pass by itself. Each surface has a sentence for each. */
export type ReasonCode =
  | 'new_recipient'
  | 'new_device'
  | 'similar_recipient'
  | 'other_resource'
  | 'possible_duplicate'
  | HistoryReasonCode
  | 'automatic_limit'
  | 'asserted_limit'
  | 'asserted_new_recipient_limit'
  | 'daily_spending_cap'
  | 'monthly_spending_cap'
  | 'credential_payment_cap'
  | 'credential_daily_cap'

/** A reason with the figures that an agent needs to ask for less or to wait. */
export type Reason = {
  code: ReasonCode
  /** Remainder of the limit that the reason names. */
  headroomUsdMicros?: bigint
  resetsAt?: string | null
}

/**
 * `neededLevel` is the lowest consent that carries the payment; `mandateId` is the mandate that carries it
 * at the level `mandate`. `mandates` are those of this merchant or payee that do not cover it, each with
 * the failing rules.
 */
export type Decision =
  | { verdict: 'allow'; consentLevel: ConsentLevel; mandateId?: string }
  | { verdict: 'confirm'; neededLevel: ConsentLevel; reasons: Reason[]; mandates: Uncovered[] }
  | { verdict: 'refuse'; reasons: Reason[]; mandates: Uncovered[] }

/**
 * Allows a payment, asks for confirmation at a named level, or refuses. The owner's approval, mandates and
 * the user's confirmation are used before the automatic limit, to keep that limit for payments without
 * consent. An approval carries anything below the caps, but only once the agent says that it still wants
 * the payment.
 */
export function decide(facts: Facts): Decision {
  const { mandates, now } = facts
  const reasons = againstCaps(facts)
  if (reasons.length > 0) {
    return { verdict: 'refuse', reasons, mandates: uncoveredBy(mandates, facts, now) }
  }
  if (facts.userConfirmed && facts.ownerApproved) {
    return { verdict: 'allow', consentLevel: facts.ownerApproved }
  }
  const mandate = bestCover(mandates, facts, now)
  if (mandate) return { verdict: 'allow', consentLevel: 'mandate', mandateId: mandate.id }
  const automatic = againstAutomatic(facts)
  const asserted = againstAsserted(facts)
  if (facts.userConfirmed && asserted.length === 0) {
    return { verdict: 'allow', consentLevel: 'agent_asserted' }
  }
  if (automatic.length === 0) return { verdict: 'allow', consentLevel: 'none' }
  return { verdict: 'confirm', ...asked(facts, automatic, asserted) }
}

/**
 * Returns the caps that the payment exceeds: those of the paying credential and the month's of the account, which bind
 * at every level, and the daily cap of the account, which only approved terms that say so let it pass.
 */
function againstCaps(facts: Facts): Reason[] {
  const { amountUsdMicros, credentialPaymentCap, credentialDaily } = facts
  const { dailySpendingCap, monthlySpendingCap, passesDailyCap } = facts
  const isOver = credentialPaymentCap !== null && amountUsdMicros > credentialPaymentCap
  return [
    isOver && { code: 'credential_payment_cap' as const, headroomUsdMicros: credentialPaymentCap },
    credentialDaily && over('credential_daily_cap', credentialDaily, amountUsdMicros),
    !(passesDailyCap && facts.userConfirmed && facts.ownerApproved) &&
      over('daily_spending_cap', dailySpendingCap, amountUsdMicros),
    over('monthly_spending_cap', monthlySpendingCap, amountUsdMicros),
  ].filter((reason) => !!reason)
}

/** Asks the agent if its word is enough, else the owner, by passkey if there is one. */
function asked(facts: Facts, automatic: Reason[], asserted: Reason[]) {
  const mandates = uncoveredBy(facts.mandates, facts, facts.now)
  if (asserted.length === 0) {
    return { neededLevel: 'agent_asserted' as const, reasons: automatic, mandates }
  }
  const neededLevel = facts.hasPasskey ? ('user_passkey' as const) : ('user_session' as const)
  const reasons = facts.userConfirmed ? asserted : [...automatic, ...notIn(asserted, automatic)]
  return { neededLevel, reasons, mandates }
}

function againstAutomatic(facts: Facts): Reason[] {
  const reasons: Reason[] = []
  if (facts.similarRecipient !== null) reasons.push({ code: 'similar_recipient' })
  if (!facts.recipientKnown) reasons.push({ code: 'new_recipient' })
  if (!facts.deviceKnown) reasons.push({ code: 'new_device' })
  if (facts.otherResource) reasons.push({ code: 'other_resource' })
  for (const code of historyReasons(facts.history, facts)) reasons.push({ code })
  const overLimit = over('automatic_limit', facts.automaticDaily, facts.amountUsdMicros)
  return overLimit ? [...reasons, overLimit] : reasons
}

function againstAsserted(facts: Facts): Reason[] {
  const reasons: Reason[] = []
  if (facts.similarRecipient !== null) reasons.push({ code: 'similar_recipient' })
  const amount = facts.amountUsdMicros
  const overRecipient =
    !facts.recipientKnown &&
    over('asserted_new_recipient_limit', facts.assertedNewRecipient, amount)
  if (overRecipient) reasons.push(overRecipient)
  const overLimit = over('asserted_limit', facts.assertedDaily, amount)
  return overLimit ? [...reasons, overLimit] : reasons
}

function over(code: ReasonCode, window: Window, amountUsdMicros: bigint): Reason | undefined {
  const left = headroom(window)
  if (amountUsdMicros <= left) return undefined
  return { code, headroomUsdMicros: left, resetsAt: window.resetsAt }
}

/** Returns the remainder of a window, never below zero. */
export function headroom(window: Window): bigint {
  return window.spent < window.limit ? window.limit - window.spent : 0n
}

function notIn(reasons: Reason[], others: Reason[]): Reason[] {
  return reasons.filter((reason) => !others.some((other) => other.code === reason.code))
}
