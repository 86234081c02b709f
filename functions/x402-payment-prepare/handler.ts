import { connectedChains } from '../../shared/chains/registry.ts'
import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Context, Handler } from '../../shared/http/handler.ts'
import { usdMicrosOf } from '../../shared/money/usd.ts'
import { enterAttempt } from '../../shared/payments/attempt-enter.ts'
import { preparedBody } from '../../shared/payments/attempt-terms.ts'
import { askConfirmation, decideEntered, limitExceeded } from '../../shared/payments/consent.ts'
import { readChallenge, readChallengeHeader } from '../../shared/x402/challenge.ts'
import { askChallenge } from '../../shared/x402/delivery.ts'
import { sortOffers } from '../../shared/x402/offers.ts'
import type { FrozenRequest } from '../../shared/x402/request.ts'
import { freezeRequest } from '../../shared/x402/request.ts'
import type { x402PaymentPrepare } from './contract.ts'

type Input = Parameters<Handler<typeof x402PaymentPrepare>>[0]

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
  const challenge = await challengeOf(input, request, context)
  if (isRefusal(challenge)) return challenge
  const { payable, unpayable } = sortOffers(challenge, connectedChains(config), (token, amount) =>
    usdMicrosOf(token, amount, config),
  )
  if (payable.length === 0) return fail('unsupported_scheme', { details: { offers: unpayable } })
  const entered = await enterAttempt(context, challenge, payable, request)
  if (isRefusal(entered)) return entered
  const decision = decideEntered(entered, false)
  if (decision.verdict === 'refuse') return limitExceeded(context, entered, false, decision)
  const prepared = preparedBody(entered.payment_row)
  if (decision.verdict === 'allow') return prepared
  return { ...prepared, ...(await askConfirmation(context, entered, false, decision)) }
}

/** The challenge as given, or as the resource gives it now. */
async function challengeOf(input: Input, request: FrozenRequest, { world, db }: Context) {
  if (input.payment_required !== undefined) return readChallengeHeader(input.payment_required)
  const { x402Version, accepts, resource, extensions, error } = input
  if (accepts !== undefined) {
    return readChallenge({ x402Version, accepts, resource, extensions, error })
  }
  // Nobody is asked anything on behalf of a caller that is not let in.
  await db.run('check_admission', { needed: 'pay' })
  return askChallenge(world, request)
}
