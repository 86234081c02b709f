/**
 * An honest merchant: version 2 of x402 with the official @x402/hono and @x402/core packages, and a route
 * of version 1. It echoes the request that reached it, so that tests can show that a payer carries query,
 * body and content type through both requests.
 */
import { createHash } from 'node:crypto'
import { HTTPFacilitatorClient } from '@x402/core/server'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { type Context, Hono, type HonoRequest } from 'hono'
import type { Address } from 'viem'
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import { type Listening, listen } from '../process/listen.ts'

const price = '$0.01'
/** Address that merchants of the local world are paid at. */
export const merchantPayTo: Address = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'

/** A running merchant with the addresses of its paid routes. */
export type Merchant = Listening & { v1Url: string; v2Url: string; payTo: Address }

/** Settings of a merchant. */
export type MerchantOptions = {
  facilitatorUrl: string
  /** Chains to offer: the single-chain routes of version 2 take the first, /v2/multi takes all. */
  chains: readonly [Chain, ...Chain[]]
  payTo?: Address
  port?: number
}

/** Serves /free, /v1/paid, /v2/paid, /v2/report and /v2/multi. The facilitator must be running. */
export async function startMerchant(options: MerchantOptions): Promise<Merchant> {
  const { facilitatorUrl, chains, payTo = merchantPayTo } = options
  const app = new Hono()
  app.get('/free', (context) => context.json({ free: true }))
  const chain = chains.find(({ chainId }) => chainId === 84532)
  if (chain) app.route('/', createMerchantV1({ facilitatorUrl, chain, payTo }, echo))
  app.use('/v2/*', sell(options, payTo))
  for (const path of ['/v2/paid', '/v2/report', '/v2/multi']) app.on(['GET', 'POST'], path, echo)
  const listening = await listen(app.fetch, options.port)
  const { url } = listening
  return { ...listening, v1Url: `${url}/v1/paid`, v2Url: `${url}/v2/paid`, payTo }
}

function sell({ facilitatorUrl, chains }: MerchantOptions, payTo: Address) {
  const offer = ({ network }: Chain) => ({ scheme: 'exact', payTo, price, network })
  const single = {
    accepts: offer(chains[0]),
    description: 'A paid answer',
    mimeType: 'application/json',
  }
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }))
  server.register('eip155:*', new ExactEvmScheme())
  const routes = {
    'GET /v2/paid': single,
    'POST /v2/paid': single,
    'GET /v2/report': single,
    'GET /v2/multi': { ...single, accepts: chains.map(offer) },
  }
  return paymentMiddleware(routes, server)
}

async function echo(context: Context): Promise<Response> {
  const body = Buffer.from(await context.req.arrayBuffer())
  return context.json({
    paid: true,
    method: context.req.method,
    query: context.req.query(),
    content_type: context.req.header('content-type') ?? null,
    body_bytes: body.length,
    body_sha256: createHash('sha256').update(body).digest('hex'),
  })
}

const payloadSchema = z
  .looseObject({ x402Version: z.literal(1), scheme: z.string(), network: z.string() })
  .and(z.custom<PaymentPayload>())

type RequirementsV1 = ReturnType<typeof requirementsFor>

/** Settings of the route. */
export type MerchantV1Options = { facilitatorUrl: string; chain: Chain; payTo: string }

/** Serves GET and POST /v1/paid for 0.01 USDC. `deliver` makes the answer to a paid request. */
function createMerchantV1(
  { facilitatorUrl, chain, payTo }: MerchantV1Options,
  deliver: (context: Context) => Promise<Response>,
): Hono {
  const client = new HTTPFacilitatorClient({ url: facilitatorUrl })
  return new Hono().on(['GET', 'POST'], '/v1/paid', async (context) => {
    const wanted = requirementsFor(chain, payTo, context.req)
    const refuse = (error: string) =>
      context.json({ x402Version: 1, error, accepts: [wanted] }, 402)
    const header = context.req.header('x-payment')
    if (!header) return refuse('X-PAYMENT header is required')
    const payload = decodePayment(header)
    if (!payload) return refuse('invalid_payload')
    const requirements = forClient(wanted)
    const verified = await client.verify(payload, requirements)
    if (!verified.isValid) return refuse(verified.invalidReason ?? 'invalid_payment')
    const response = await deliver(context)
    const settled = await client.settle(payload, requirements)
    if (!settled.success) return refuse(settled.errorReason ?? 'settlement_failed')
    response.headers.set('x-payment-response', encode(settled))
    return response
  })
}

function requirementsFor({ usdc }: Chain, payTo: string, { url, method }: HonoRequest) {
  return {
    scheme: 'exact',
    network: 'base-sepolia',
    maxAmountRequired: '10000',
    resource: url,
    description: 'A paid answer in version 1',
    mimeType: 'application/json',
    payTo,
    maxTimeoutSeconds: 300,
    asset: usdc,
    outputSchema: { input: { type: 'http', method, discoverable: true } },
    extra: { name: 'USDC', version: '2' },
  }
}

/** Casts the requirements: the client's types know version 2 only, though it forwards version 1 too. */
function forClient(requirements: RequirementsV1): PaymentRequirements {
  return z.custom<PaymentRequirements>().parse(requirements)
}

function decodePayment(header: string) {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    return payloadSchema.safeParse(decoded).data
  } catch {
    return undefined
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
