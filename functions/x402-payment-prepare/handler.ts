import { connectedChains } from '../../shared/chains/registry.ts'
import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Context, Handler } from '../../shared/http/handler.ts'
import { usdMicrosOf } from '../../shared/money/usd.ts'
import { enterAttempt } from '../../shared/payments/attempt-enter.ts'
import { hearChallenge } from '../../shared/payments/attempt-heard.ts'
import { preparedBody } from '../../shared/payments/attempt-terms.ts'
import { judgeFor } from '../../shared/payments/judge.ts'
import { coveredBy } from '../../shared/payments/words.ts'
import { askDemand } from '../../shared/x402/ask.ts'
import { readDemand } from '../../shared/x402/demand.ts'
import { askingGiven } from '../../shared/x402/given.ts'
import { sortOffers } from '../../shared/x402/offers.ts'
import type { FrozenRequest } from '../../shared/x402/request.ts'
import { freezeRequest } from '../../shared/x402/request.ts'
import type { x402PaymentPrepare } from './contract.ts'

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
  const given = askingGiven(input)
  const demand = given
    ? readDemand(given, request, context.now())
    : await demandHeard(request, context)
  if (isRefusal(demand)) return demand
  const { payable, unpayable } = sortOffers(demand, connectedChains(config), (token, amount) =>
    usdMicrosOf(token, amount, config),
  )
  if (payable.length === 0) return fail('unsupported_scheme', { details: { offers: unpayable } })
  const begun = await enterAttempt(context, payable, { request, heard: !given })
  if (isRefusal(begun)) return begun
  const judge = judgeFor(context, false)
  const entered = await hearChallenge(context, begun, judge)
  const decision = await judge.decide(entered)
  if (decision.verdict === 'refuse') return judge.refuse(entered, decision)
  const prepared = preparedBody(entered.payment_row)
  if (decision.verdict === 'allow') return { ...prepared, ...coveredBy(decision.mandateId) }
  return { ...prepared, ...(await judge.ask(entered, decision)) }
}

/** What the resource asks for now. Nobody is asked for a caller that is not let in. */
async function demandHeard(request: FrozenRequest, context: Context) {
  await context.db.run('check_admission', { needed: 'pay' })
  return askDemand(context.world, request, context.now())
}
