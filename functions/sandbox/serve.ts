/**
 * The sandbox: a merchant for a first purchase, which sells a report for test money by each protocol of HTTP 402.
 * It holds nothing and remembers nothing. A report is served after the facilitator has settled its payment, and the
 * token lets a signature through once: sent again, it buys nothing and costs nothing.
 */
import { fail, isRefusal, type Refusal, Rejection } from '../../shared/contract/errors.ts'
import { sha256, toHex } from '../../shared/digest.ts'
import { fixedHeaders, refuse } from '../../shared/http/answer.ts'
import { wholeRequest } from '../../shared/http/input.ts'
import { runToEnd } from '../../shared/http/later.ts'
import { type World, worldFrom } from '../../shared/world.ts'
import { settleTestPayment, supportedOffers, verifyTestPayment } from './facilitator.ts'
import { mpp } from './mpp.ts'
import { price, type TestOffer, testOffers } from './offers.ts'
import { sandboxPage } from './page.ts'
import { paymentProblem, type TestPayment } from './payment.ts'
import type { HeaderPairs, PricedRequest, Protocol } from './protocol.ts'
import { x402V1, x402V2 } from './x402.ts'

/** Protocols by the paths of their reports. */
const reports: Readonly<Record<string, Protocol>> = {
  '/sandbox/v2/report': x402V2,
  '/sandbox/v1/report': x402V1,
  '/sandbox/mpp/report': mpp,
}
/** Longest body of a request in bytes. */
const bodyBytesMax = 65_536
/** Time for which the facilitator's networks are not asked for again. */
const supportedForMilliseconds = 300_000

type Sandbox = {
  world: World
  /** Offers that the facilitator was last known to settle. */
  supported?: { offers: readonly TestOffer[]; untilMilliseconds: number }
}

/** Makes the function. Only tests replace `worldOf`. */
export function sandboxFunction(worldOf: typeof worldFrom = worldFrom) {
  let sandbox: Sandbox | undefined
  return {
    fetch: runToEnd(async (request, bindings) => {
      sandbox ??= { world: worldOf(bindings ?? {}) }
      const requestId = sandbox.world.newId()
      try {
        return await serveSandbox(sandbox, request, requestId)
      } catch (error) {
        if (error instanceof Rejection) return refuse(error.refusal, requestId)
        sandbox.world.log({ requestId, operation: 'sandbox', log: String(error) })
        return refuse(fail('internal_error'), requestId)
      }
    }),
  }
}

async function serveSandbox(
  sandbox: Sandbox,
  request: Request,
  requestId: string,
): Promise<Response> {
  const { world } = sandbox
  const { pathname, search } = new URL(request.url)
  const offers = testOffers(world.config)
  if (isRefusal(offers)) return refuse(offers, requestId)
  const protocol = reports[pathname]
  const isIndex = pathname === '/sandbox'
  if (!protocol && !isIndex) return refuse(fail('not_found', { hint }), requestId)
  const allow = isIndex ? 'GET' : 'GET, POST'
  if (!allow.split(', ').includes(request.method)) {
    return refuse(fail('method_not_allowed', { details: { allow } }), requestId)
  }
  if (!protocol)
    return answerJson(200, sandboxPage(world.config, Object.keys(reports), offers), requestId)
  const url = `${world.config.BASE_URL}${pathname}${search}`
  const priced = { url, at: world.now(), id: requestId }
  const sold = await sell(sandbox, { request, priced, protocol, offers })
  return isRefusal(sold)
    ? refuse(sold, requestId)
    : answerJson(sold.status, sold.body, requestId, sold.headers)
}

const hint = 'The paid addresses are listed at {base_url}/sandbox.'

type Sale = {
  request: Request
  priced: PricedRequest
  protocol: Protocol
  offers: readonly TestOffer[]
}
type Sold = { status: number; body: object; headers: HeaderPairs }

/** Answers with a challenge, or with the report once its payment is settled. */
async function sell(
  sandbox: Sandbox,
  { request, priced, protocol, offers: all }: Sale,
): Promise<Sold | Refusal> {
  const { world } = sandbox
  const offers = await offersNow(sandbox, all)
  if (offers === undefined) return notNow(facilitatorAway)
  if (offers.length === 0) return notNow(noSharedNetwork)
  const challenge = (error: string) => ({
    status: 402,
    ...protocol.challenge(offers, priced, error),
  })
  const payment = protocol.read(request.headers, offers, priced)
  if (payment === undefined) return challenge(`This report costs ${price} USDC of a test network.`)
  if (typeof payment === 'string') return challenge(payment)
  const problem = paymentProblem(payment, world.now())
  if (problem !== undefined) return challenge(problem)
  // The whole body is read first: a request that is not complete must cost nothing.
  const whole = await wholeRequest(request, bodyBytesMax)
  const invalid = await verifyTestPayment(world, payment)
  if (invalid === undefined) return notNow(facilitatorAway)
  if (invalid !== null) return challenge(`The facilitator refuses the payment: ${invalid}.`)
  const outcome = await settleTestPayment(world, payment)
  if (outcome.kind === 'unknown') return notNow(outcomeUnknown)
  const headers = protocol.receipt(payment, outcome, world.now())
  if (outcome.kind === 'refused') {
    const error = `The facilitator did not settle the payment: ${outcome.reason}.`
    return { status: 402, body: { error }, headers }
  }
  return { status: 200, body: await reportOn(whole, payment, outcome.transaction), headers }
}

const facilitatorAway =
  'The facilitator of the sandbox does not answer, so nothing is sold, and nothing was paid.'
const noSharedNetwork =
  "The facilitator of the sandbox settles on none of this deployment's networks."
const outcomeUnknown =
  'The facilitator did not say that it settled the payment, so nothing is served. The money may have moved all ' +
  'the same: look at the chain before you sign another payment. This one is settled once at most.'

function notNow(message: string): Refusal {
  return fail('unavailable', { message, retryAfterSeconds: 30 })
}

/** Returns the offers that the facilitator settles, as it said in the last minutes; undefined while it does not answer. */
async function offersNow(
  sandbox: Sandbox,
  offers: readonly TestOffer[],
): Promise<readonly TestOffer[] | undefined> {
  const { world, supported } = sandbox
  const nowMilliseconds = world.now().getTime()
  if (supported && nowMilliseconds < supported.untilMilliseconds) return supported.offers
  const found = await supportedOffers(world, offers)
  if (found) {
    const untilMilliseconds = nowMilliseconds + supportedForMilliseconds
    sandbox.supported = { offers: found, untilMilliseconds }
  }
  return found
}

/** Returns the report, which repeats what reached the sandbox, so that a buyer sees what its request became. */
async function reportOn(
  request: Request,
  { offer, authorization }: TestPayment,
  transaction: string,
) {
  const body = new Uint8Array(await request.arrayBuffer())
  return {
    paid: true,
    report: 'You bought this report. It cost test money, and it repeats your request.',
    payment: {
      amount: price,
      token: offer.token.symbol,
      network: offer.chain.caip2,
      payer: authorization.from,
      transaction,
    },
    method: request.method,
    query: Object.fromEntries(new URL(request.url).searchParams),
    content_type: request.headers.get('content-type'),
    body_bytes: body.length,
    body_sha256: toHex(await sha256(body)),
  }
}

function answerJson(
  status: number,
  body: object,
  requestId: string,
  headers: HeaderPairs = [],
): Response {
  const all = new Headers(fixedHeaders(requestId))
  for (const [name, value] of headers) all.append(name, value)
  return new Response(`${JSON.stringify(body, null, 2)}\n`, { status, headers: all })
}
