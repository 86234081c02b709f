/**
 * What is sent to be paid for: the payment of x402 version 1 and 2 or of MPP in its header, and what
 * the server's answer claims about the settlement. A claim is a hint where to look on chain.
 */
import * as z from 'zod'
import { decodeText, encodeText, parseJson } from '../base64.ts'
import { wordSchema } from '../chains/hex.ts'
import type { SignedAuthorization } from '../custody/port.ts'
import { mppCredential } from './mpp.ts'
import type { Offer } from './offer.ts'

/** What of the offer comes back in the payment. */
export type Terms = Pick<
  Offer,
  'protocol' | 'version' | 'scheme' | 'network' | 'requirement' | 'resource' | 'extensions'
>

/** The payment header: PAYMENT-SIGNATURE for version 2, X-PAYMENT for version 1, and that of MPP. */
export function paymentHeader(
  terms: Terms,
  signed: SignedAuthorization,
): readonly [name: string, value: string] {
  if (terms.protocol === 'mpp') return mppCredential(terms, signed)
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
  const claim = headers.get('payment-response') ?? headers.get('x-payment-response')
  const header = claim ?? headers.get('payment-receipt')
  if (header === null || header.length > claimLengthMax) return undefined
  const read = parseJson(decodeText(header) ?? '')
  if (claim === null) return readReceipt(read)
  const parsed = settlementFields.safeParse(read)
  return parsed.success ? parsed.data : undefined
}

const receiptFields = z.looseObject({
  status: z.string(),
  reference: wordSchema.optional().catch(undefined),
})

/** The receipt of MPP in the same words; `reference` is the transaction. */
function readReceipt(value: unknown): SettlementClaim | undefined {
  const parsed = receiptFields.safeParse(value)
  if (!parsed.success) return undefined
  const { status, reference } = parsed.data
  return { success: status === 'success', transaction: reference }
}
