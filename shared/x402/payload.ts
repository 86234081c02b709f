/**
 * What is sent to be paid for: the payment payload of x402 version 1 and 2 in its header, and what
 * the server's answer claims about the settlement. A claim is a hint where to look on chain.
 */
import * as z from 'zod'
import { decodeText, encodeText, parseJson } from '../base64.ts'
import { wordSchema } from '../chains/hex.ts'
import type { SignedAuthorization } from '../custody/port.ts'

/** A signature is good for five minutes at most, whatever a merchant asks for. */
const validSecondsMax = 300
/** Version 1 servers check validAfter against their own clock; clients leave ten minutes. */
const v1ClockSkewSeconds = 600

/** Unix seconds, both exclusive (EIP-3009). */
export type Validity = { validAfter: number; validBefore: number }

/** Seconds for which a signature on this offer is good. */
export function validSecondsOf(maxTimeoutSeconds: number): number {
  return Math.min(maxTimeoutSeconds, validSecondsMax)
}

/** Unix seconds between which the authorization may be used. */
export function validityOf(version: number, nowSeconds: number, validSeconds: number): Validity {
  return {
    validAfter: version === 1 ? nowSeconds - v1ClockSkewSeconds : 0,
    validBefore: nowSeconds + validSeconds,
  }
}

/** What of the challenge comes back in the payment. */
export type Terms = {
  version: 1 | 2
  scheme: string
  /** As offered. */
  network: string
  requirement: Record<string, unknown>
  resource?: unknown
  extensions?: unknown
}

/** The payment header: PAYMENT-SIGNATURE for version 2, X-PAYMENT for version 1. */
export function paymentHeader(
  terms: Terms,
  signed: SignedAuthorization,
): readonly [name: string, value: string] {
  const name = terms.version === 2 ? 'payment-signature' : 'x-payment'
  return [name, encodeText(JSON.stringify(paymentPayload(terms, signed)))]
}

/** The PaymentPayload that the header carries. */
export function paymentPayload(
  terms: Terms,
  { signature, ...authorization }: SignedAuthorization,
): Record<string, unknown> {
  const payload = { authorization, signature }
  if (terms.version === 1) {
    return { x402Version: 1, scheme: terms.scheme, network: terms.network, payload }
  }
  return {
    x402Version: 2,
    payload,
    ...(terms.extensions === undefined ? {} : { extensions: terms.extensions }),
    ...(terms.resource === undefined ? {} : { resource: terms.resource }),
    accepted: terms.requirement,
  }
}

const settlementFields = z.looseObject({
  success: z.boolean().optional(),
  transaction: wordSchema.optional().catch(undefined),
  errorReason: z.string().max(256).optional().catch(undefined),
})

/** A server's word about the settlement. */
export type SettlementClaim = z.output<typeof settlementFields>

const claimLengthMax = 16_384

/** What the server claims about the settlement; undefined when it says nothing readable. */
export function readSettlementClaim(headers: Pick<Headers, 'get'>): SettlementClaim | undefined {
  const header = headers.get('payment-response') ?? headers.get('x-payment-response')
  if (header === null || header.length > claimLengthMax) return undefined
  const parsed = settlementFields.safeParse(parseJson(decodeText(header) ?? ''))
  return parsed.success ? parsed.data : undefined
}
