/** What is sent to be paid for: the payment of x402 version 1 and 2 or of MPP in its header. */
import { encodeText } from '../base64.ts'
import { permit2Of } from '../custody/permit2-terms.ts'
import type { SignedPayment } from '../custody/port.ts'
import { mppCredential } from './mpp.ts'
import type { Offer, TransferMethod } from './offer.ts'
import { withIdentifier } from './payment-identifier.ts'
import { permit2Payload, withAllowance } from './permit2.ts'

/** What of the offer comes back in the payment. */
export type Terms = Pick<
  Offer,
  'protocol' | 'version' | 'scheme' | 'network' | 'requirement' | 'resource' | 'extensions'
> & { transfer_method?: TransferMethod }

/** A header of a request. */
export type Header = readonly [name: string, value: string]

/**
 * The payment headers: PAYMENT-SIGNATURE for version 2, X-PAYMENT for version 1, and that of MPP. Who
 * mixes the versions may look for either, and is sent one payment in both.
 */
export function paymentHeaders(terms: Terms, signed: SignedPayment): Header[] {
  if (terms.protocol === 'mpp') return [mppCredential(terms, signed)]
  const value = encodeText(JSON.stringify(paymentPayload(terms, signed)))
  const old: Header = ['x-payment', value]
  if (terms.version === 1) return [old]
  return [['payment-signature', value], ...(isMixed(terms) ? [old] : [])]
}

/** A requirement of version 1 in an envelope of version 2, as `settlePayment` of thirdweb sends it. */
function isMixed({ version, requirement }: Terms): boolean {
  return version === 2 && requirement['amount'] === undefined
}

/** The PaymentPayload that the header carries. */
export function paymentPayload(terms: Terms, signed: SignedPayment): Record<string, unknown> {
  const { signature, allowance: _, ...authorization } = signed
  const asset = String(terms.requirement['asset'])
  const permit = permit2Of(terms)
  const payload = permit ? permit2Payload(signed, permit, asset) : { authorization, signature }
  const named = withIdentifier(terms.extensions, signed.nonce)
  const extensions = withAllowance(named, signed, asset)
  if (terms.version === 1) {
    return { x402Version: 1, scheme: terms.scheme, network: terms.network, payload }
  }
  // Servers that mix the versions find what was paid by these two, and the others by `accepted`.
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
