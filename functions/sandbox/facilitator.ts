/**
 * Asks the facilitator on which networks it settles, whether a payment would settle, and to settle it. It is always
 * asked in x402 version 2, because all protocols of the sandbox carry the same authorization. An answer that does
 * not fit the payment settles nothing.
 */
import * as z from 'zod'
import { parseJson } from '../../shared/base64.ts'
import { sameHex } from '../../shared/chains/hex.ts'
import { required } from '../../shared/env.ts'
import type { World } from '../../shared/world.ts'
import { priceAtomic, requirementOf, type TestOffer } from './offers.ts'
import type { TestPayment } from './payment.ts'

type Facilitating = Pick<World, 'config' | 'fetch' | 'deadline'>

/** Time limits, together shorter than a payment is valid; the first is shorter than a buyer waits for terms. */
const supportedMilliseconds = 6_000
const verifyMilliseconds = 10_000
const settleMilliseconds = 40_000

const reasonSchema = z
  .string()
  .regex(/^[a-z0-9_]{1,100}$/)
  .optional()
  .catch(undefined)
const kindSchema = z.object({ x402Version: z.number(), scheme: z.string(), network: z.string() })
const supportedSchema = z.object({ kinds: z.array(kindSchema) })
const verifiedSchema = z.object({ isValid: z.boolean(), invalidReason: reasonSchema })
const settledSchema = z.discriminatedUnion('success', [
  z.object({ success: z.literal(false), errorReason: reasonSchema }),
  z.object({
    success: z.literal(true),
    transaction: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
    network: z.string(),
    payer: z.string().nullish(),
    amount: z.string().nullish(),
  }),
])

/** Outcome of settling. While it is unknown the money may have moved. */
export type Settlement =
  | { kind: 'settled'; transaction: string }
  | { kind: 'refused'; reason: string }
  | { kind: 'unknown' }

/** Returns the offers that the facilitator settles; undefined if it does not answer. */
export async function supportedOffers(
  world: Facilitating,
  offers: readonly TestOffer[],
): Promise<readonly TestOffer[] | undefined> {
  const answer = await askFacilitator(world, '/supported', supportedMilliseconds)
  const supported = supportedSchema.safeParse(answer)
  if (!supported.success) return undefined
  const { kinds } = supported.data
  return offers.filter(({ chain }) =>
    kinds.some(
      ({ x402Version, scheme, network }) =>
        x402Version === 2 && scheme === 'exact' && network === chain.caip2,
    ),
  )
}

/** Returns why a payment would not settle, `null` if it would; undefined if the facilitator does not answer. */
export async function verifyTestPayment(
  world: Facilitating,
  payment: TestPayment,
): Promise<string | null | undefined> {
  const answer = await askFacilitator(world, '/verify', verifyMilliseconds, payment)
  const verified = verifiedSchema.safeParse(answer)
  if (!verified.success) return undefined
  return verified.data.isValid ? null : (verified.data.invalidReason ?? 'invalid_payment')
}

/** Has a payment settled. */
export async function settleTestPayment(
  world: Facilitating,
  payment: TestPayment,
): Promise<Settlement> {
  const answer = await askFacilitator(world, '/settle', settleMilliseconds, payment)
  const settled = settledSchema.safeParse(answer)
  if (!settled.success) return { kind: 'unknown' }
  if (!settled.data.success) {
    return { kind: 'refused', reason: settled.data.errorReason ?? 'settlement_failed' }
  }
  const { transaction, network, payer, amount } = settled.data
  const { offer, authorization } = payment
  const fits =
    network === offer.chain.caip2 &&
    sameHex(payer ?? authorization.from, authorization.from) &&
    (amount ?? priceAtomic) === priceAtomic
  return fits ? { kind: 'settled', transaction } : { kind: 'unknown' }
}

/** Sends one request, never a second one. Returns undefined without an answer in JSON. */
async function askFacilitator(
  { config, fetch, deadline }: Facilitating,
  path: string,
  milliseconds: number,
  payment?: TestPayment,
): Promise<unknown> {
  const url = required(config, 'SANDBOX_FACILITATOR_URL').replace(/\/+$/, '') + path
  try {
    const response = await fetch(url, {
      signal: deadline(milliseconds),
      redirect: 'manual',
      ...(payment && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(facilitatorRequest(payment)),
      }),
    })
    return parseJson(await response.text())
  } catch {
    return undefined
  }
}

function facilitatorRequest({ offer, authorization, signature }: TestPayment) {
  const paymentRequirements = requirementOf(offer)
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      accepted: paymentRequirements,
      payload: { authorization, signature },
    },
    paymentRequirements,
  }
}
