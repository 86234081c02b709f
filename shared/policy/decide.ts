/**
 * The one place that decides about a payment. Pure: the same facts give the same answer. It never
 * grants more than SQL will commit; SQL checks the same limits again when requests race.
 */
import type { ConsentLevel, Facts, Window } from './facts.ts'

/** Why a payment does not go through by itself. Each surface has its sentence for each. */
export type ReasonCode =
  | 'new_recipient'
  | 'new_device'
  | 'similar_recipient'
  | 'automatic_limit'
  | 'asserted_limit'
  | 'asserted_new_recipient_limit'
  | 'daily_spending_cap'

/** A reason with the figures that an agent needs to ask for less or to wait. */
export type Reason = {
  code: ReasonCode
  /** What is left of the limit that the reason names. */
  headroomUsdMicros?: bigint
  resetsAt?: string | null
}

/** `neededLevel` is the lowest consent that carries the payment. */
export type Decision =
  | { verdict: 'allow'; consentLevel: ConsentLevel }
  | { verdict: 'confirm'; neededLevel: ConsentLevel; reasons: Reason[] }
  | { verdict: 'refuse'; reasons: Reason[] }

/**
 * Allows, asks for a confirmation of a named level, or refuses. The strongest consent is used first,
 * so that what the owner or a user confirmed does not use up what needs less. An approval carries
 * anything below the cap, but only once the agent says that it wants the payment still.
 */
export function decide(facts: Facts): Decision {
  const overCap = over('daily_spending_cap', facts.dailySpendingCap, facts.amountUsdMicros)
  if (overCap) return { verdict: 'refuse', reasons: [overCap] }
  if (facts.userConfirmed && facts.ownerApproved) {
    return { verdict: 'allow', consentLevel: 'user_session' }
  }
  const automatic = againstAutomatic(facts)
  const asserted = againstAsserted(facts)
  if (facts.userConfirmed && asserted.length === 0) {
    return { verdict: 'allow', consentLevel: 'agent_asserted' }
  }
  if (automatic.length === 0) return { verdict: 'allow', consentLevel: 'none' }
  if (asserted.length === 0) {
    return { verdict: 'confirm', neededLevel: 'agent_asserted', reasons: automatic }
  }
  const reasons = facts.userConfirmed ? asserted : [...automatic, ...notIn(asserted, automatic)]
  return { verdict: 'confirm', neededLevel: 'user_session', reasons }
}

function againstAutomatic(facts: Facts): Reason[] {
  const reasons: Reason[] = []
  if (facts.similarRecipient !== null) reasons.push({ code: 'similar_recipient' })
  if (!facts.recipientKnown) reasons.push({ code: 'new_recipient' })
  if (!facts.deviceKnown) reasons.push({ code: 'new_device' })
  const overLimit = over('automatic_limit', facts.automaticDaily, facts.amountUsdMicros)
  return overLimit ? [...reasons, overLimit] : reasons
}

function againstAsserted(facts: Facts): Reason[] {
  const reasons: Reason[] = []
  if (facts.similarRecipient !== null) reasons.push({ code: 'similar_recipient' })
  const newRecipientLimit = facts.assertedNewRecipientLimit
  if (!facts.recipientKnown && facts.amountUsdMicros > newRecipientLimit) {
    reasons.push({ code: 'asserted_new_recipient_limit', headroomUsdMicros: newRecipientLimit })
  }
  const overLimit = over('asserted_limit', facts.assertedDaily, facts.amountUsdMicros)
  return overLimit ? [...reasons, overLimit] : reasons
}

function over(code: ReasonCode, window: Window, amountUsdMicros: bigint): Reason | undefined {
  const left = headroom(window)
  if (amountUsdMicros <= left) return undefined
  return { code, headroomUsdMicros: left, resetsAt: window.resetsAt }
}

/** What is left of a window, never below zero. */
export function headroom(window: Window): bigint {
  return window.spent < window.limit ? window.limit - window.spent : 0n
}

function notIn(reasons: Reason[], others: Reason[]): Reason[] {
  return reasons.filter((reason) => !others.some((other) => other.code === reason.code))
}
