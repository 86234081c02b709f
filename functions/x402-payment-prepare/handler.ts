import { connectedChains } from '../../shared/chains/registry.ts'
import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { usdMicrosOf } from '../../shared/money/usd.ts'
import { decisionMakerFor } from '../../shared/payments/decide/judge.ts'
import { enterAttempt, readPurchaseFacts } from '../../shared/payments/enter/attempt.ts'
import { preparedBody } from '../../shared/payments/enter/attempt-terms.ts'
import { verifyChallengeWithMerchant } from '../../shared/payments/enter/verify-challenge.ts'
import { coveredBy } from '../../shared/payments/words.ts'
import { fetchOfferedTerms } from '../../shared/x402/ask.ts'
import { freezeRequest } from '../../shared/x402/challenge.ts'
import { paymentRequiredFromCaller } from '../../shared/x402/given.ts'
import { readOfferedTerms, sortOffers } from '../../shared/x402/offers.ts'
import { yieldGatesOf } from '../../shared/yield/registry.ts'
import type { x402PaymentPrepare } from './contract.ts'

/** Enters an attempt with the payable offers and answers the decision on it; it pays nothing. */
export const run: Handler<typeof x402PaymentPrepare> = async (input, context) => {
  const { config } = context.world
  const request = freezeRequest(
    {
      resourceUrl: input.resource_url,
      method: input.method,
      headers: input.headers,
      body: input.body,
      bodyBase64: input.body_base64,
    },
    config,
  )
  if (isRefusal(request)) return request
  const facts = await readPurchaseFacts(context, request)
  const given = paymentRequiredFromCaller(input)
  const terms = given
    ? readOfferedTerms(given, request, context.now())
    : await fetchOfferedTerms(context.world, request, context.now())
  if (isRefusal(terms)) return terms
  const { payable: offered, unpayable } = sortOffers(
    terms,
    connectedChains(config),
    (token, amount) => usdMicrosOf(token, amount, config),
  )
  // A gate keeps what is paid to it without an order.
  const isGate = yieldGatesOf(config)
  const payable = offered.filter(({ chain, payTo }) => !isGate(chain, payTo))
  if (payable.length === 0) return fail('unsupported_scheme', { details: { offers: unpayable } })
  const purchase = { request, facts, verifiedWithMerchant: !given, memo: input.memo }
  const begun = await enterAttempt(context, payable, purchase)
  if (isRefusal(begun)) return begun
  const decisionMaker = decisionMakerFor(context, false)
  const entered = await verifyChallengeWithMerchant(context, begun, decisionMaker)
  const decision = await decisionMaker.decide(entered)
  if (decision.verdict === 'refuse') return decisionMaker.refuse(entered, decision)
  const prepared = preparedBody(entered.payment_row)
  if (decision.verdict === 'allow') return { ...prepared, ...coveredBy(decision.mandateId) }
  return { ...prepared, ...(await decisionMaker.ask(entered, decision)) }
}
