/**
 * A paid route in version 1 of the x402 wire format: challenge in the JSON body, X-PAYMENT in,
 * X-PAYMENT-RESPONSE out. The original package is too large to install here, so the HTTP side is written
 * after x402-specification-v1.md; the official facilitator does the rest.
 */
import { HTTPFacilitatorClient } from '@x402/core/server'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { type Context, Hono, type HonoRequest } from 'hono'
import * as z from 'zod'
import type { Chain } from './chain.ts'

const payloadSchema = z
  .looseObject({ x402Version: z.literal(1), scheme: z.string(), network: z.string() })
  .and(z.custom<PaymentPayload>())

type RequirementsV1 = ReturnType<typeof requirementsFor>

/** Settings of the route. */
export type MerchantV1Options = { facilitatorUrl: string; chain: Chain; payTo: string }

/** Serves GET and POST /v1/paid for 0.01 USDC. `deliver` makes the answer to a paid request. */
export function createMerchantV1(
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
