/**
 * Verifies a challenge that an agent brings, which is only the agent's claim. Before a mandate pays it
 * without asking anybody, the service asks the resource itself, and only if nothing else prevents the
 * payment. The resource must then ask for what was entered.
 */
import { isRefusal } from '../../contract/errors.ts'
import type { Context } from '../../http/handler.ts'
import { fetchOfferedTerms } from '../../x402/ask.ts'
import { namesOtherHost } from '../../x402/challenge.ts'
import type { DecisionMaker } from '../decide/judge.ts'
import type { PaymentWithFacts } from '../payment-with-facts.ts'
import { isOffered, termsOf } from './attempt-terms.ts'

/** Returns the attempt, marked as verified if only that was missing and the resource confirms it. */
export async function verifyChallengeWithMerchant(
  context: Context,
  entered: PaymentWithFacts,
  decisionMaker: DecisionMaker,
): Promise<PaymentWithFacts> {
  if (entered.payment_row.verified_with_merchant) return entered
  const verified = {
    ...entered,
    payment_row: { ...entered.payment_row, verified_with_merchant: true },
  }
  const isMissing =
    !(await isCoveredByMandate(decisionMaker, entered)) &&
    (await isCoveredByMandate(decisionMaker, verified))
  if (!isMissing || !(await isAskedByMerchant(context, entered))) return entered
  await context.db.run('note_verified_with_merchant', { payment: entered.payment_row.id })
  return verified
}

async function isCoveredByMandate(
  decisionMaker: DecisionMaker,
  entered: PaymentWithFacts,
): Promise<boolean> {
  const decision = await decisionMaker.decide(entered)
  return decision.verdict === 'allow' && decision.consentLevel === 'mandate'
}

/**
 * True if the resource asks for this very payment now, and for itself: an agent could have left out that
 * the challenge names another resource. A resource that does not answer asks for nothing.
 */
async function isAskedByMerchant(
  context: Context,
  { payment_row: payment }: PaymentWithFacts,
): Promise<boolean> {
  const terms = termsOf(payment)
  const demand = await fetchOfferedTerms(context.world, terms.request, context.now())
  if (isRefusal(demand)) return false
  const offers = demand.offers.filter((offer) => !namesOtherHost(offer, terms.origin))
  return isOffered(payment, terms, { offers })
}
