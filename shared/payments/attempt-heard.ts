/**
 * A challenge that an agent brings is the agent's word. Before a mandate lets it be paid with nobody
 * asked, the service asks the resource itself, and only for a payment that nothing else stands
 * against. What it then asks for has to be what was entered.
 */
import { isRefusal } from '../contract/errors.ts'
import type { Context } from '../http/handler.ts'
import { askDemand } from '../x402/ask.ts'
import { namesOtherHost } from '../x402/named-resource.ts'
import { isOffered } from './attempt-offered.ts'
import { termsOf } from './attempt-terms.ts'
import type { Entered } from './entered.ts'
import type { Judge } from './judge.ts'

/** The attempt with what was heard noted; as it was where that would change nothing. */
export async function hearChallenge(
  context: Context,
  entered: Entered,
  judge: Judge,
): Promise<Entered> {
  if (entered.payment_row.heard) return entered
  const heard = { ...entered, payment_row: { ...entered.payment_row, heard: true } }
  const isMissing = !(await isCovered(judge, entered)) && (await isCovered(judge, heard))
  if (!isMissing || !(await isAsked(context, entered))) return entered
  await context.db.run('note_heard', { payment: entered.payment_row.id })
  return heard
}

async function isCovered(judge: Judge, entered: Entered): Promise<boolean> {
  const decision = await judge.decide(entered)
  return decision.verdict === 'allow' && decision.consentLevel === 'mandate'
}

/**
 * Whether the resource asks for this very payment now, and for itself: an agent could have left out
 * that it names another. One that does not answer asks for nothing.
 */
async function isAsked(context: Context, { payment_row: payment }: Entered): Promise<boolean> {
  const terms = termsOf(payment)
  const demand = await askDemand(context.world, terms.request, context.now())
  if (isRefusal(demand)) return false
  const offers = demand.offers.filter((offer) => !namesOtherHost(offer, terms.origin))
  return isOffered(payment, terms, { offers })
}
