/** Builds the payment headers of a request: for x402 versions 1 and 2, and for MPP. */
import { encodeText } from '../base64.ts'
import { permit2Of } from '../custody/permit2-terms.ts'
import type { SignedPayment } from '../custody/port.ts'
import { mppCredential } from './mpp.ts'
import type { Offer, TransferMethod } from './offer.ts'
import { withIdentifier } from './payment-identifier.ts'
import { permit2Payload, withAllowance } from './permit2.ts'

/** The parts of an offer that the payment needs or echoes. */
export type PayloadTerms = Pick<
  Offer,
  'protocol' | 'version' | 'scheme' | 'network' | 'requirement' | 'resource' | 'extensions'
> & { transfer_method?: TransferMethod }

/** Name and value of a request header. */
export type Header = readonly [name: string, value: string]

/**
 * Returns the payment headers: PAYMENT-SIGNATURE for version 2, X-PAYMENT for version 1, and the header of
 * MPP. A server that mixes the versions may read either, so it gets the same payment in both.
 */
export function paymentHeaders(terms: PayloadTerms, signed: SignedPayment): Header[] {
  if (terms.protocol === 'mpp') return [mppCredential(terms, signed)]
  const value = encodeText(JSON.stringify(paymentPayload(terms, signed)))
  const old: Header = ['x-payment', value]
  if (terms.version === 1) return [old]
  return [['payment-signature', value], ...(isMixed(terms) ? [old] : [])]
}

/** Detects a version 1 requirement in a version 2 envelope, as thirdweb's `settlePayment` sends it. */
function isMixed({ version, requirement }: PayloadTerms): boolean {
  return version === 2 && requirement['amount'] === undefined
}

/** Returns the PaymentPayload that the header carries. */
export function paymentPayload(
  terms: PayloadTerms,
  signed: SignedPayment,
): Record<string, unknown> {
  const { signature, allowance: _, ...authorization } = signed
  const asset = String(terms.requirement['asset'])
  const permit = permit2Of(terms)
  const payload = permit ? permit2Payload(signed, permit, asset) : { authorization, signature }
  const named = withIdentifier(terms.extensions, signed.nonce)
  const extensions = withAllowance(named, signed, asset)
  if (terms.version === 1) {
    return { x402Version: 1, scheme: terms.scheme, network: terms.network, payload }
  }
  // Servers that mix the versions match the payment by these two fields; all others use `accepted`.
  const { scheme, network } = terms
  return {
    x402Version: 2,
    ...(isMixed(terms) ? { scheme, network } : {}),
    payload,
    ...(extensions === undefined ? {} : { extensions }),
    ...(terms.resource === undefined ? {} : { resource: terms.resource }),
    accepted: terms.requirement,
  }
}
