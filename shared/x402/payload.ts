/** What is sent to be paid for: the payment of x402 version 1 and 2 or of MPP in its header. */
import { encodeText } from '../base64.ts'
import { permit2Of } from '../custody/permit2-terms.ts'
import type { SignedPayment } from '../custody/port.ts'
import { mppCredential } from './mpp.ts'
import type { Offer, TransferMethod } from './offer.ts'
import { permit2Payload, withAllowance } from './permit2.ts'

/** What of the offer comes back in the payment. */
export type Terms = Pick<
  Offer,
  'protocol' | 'version' | 'scheme' | 'network' | 'requirement' | 'resource' | 'extensions'
> & { transfer_method?: TransferMethod }

/** The payment header: PAYMENT-SIGNATURE for version 2, X-PAYMENT for version 1, and that of MPP. */
export function paymentHeader(
  terms: Terms,
  signed: SignedPayment,
): readonly [name: string, value: string] {
  if (terms.protocol === 'mpp') return mppCredential(terms, signed)
  const name = terms.version === 2 ? 'payment-signature' : 'x-payment'
  return [name, encodeText(JSON.stringify(paymentPayload(terms, signed)))]
}

/** The PaymentPayload that the header carries. */
export function paymentPayload(terms: Terms, signed: SignedPayment): Record<string, unknown> {
  const { signature, allowance: _, ...authorization } = signed
  const asset = String(terms.requirement['asset'])
  const permit = permit2Of(terms)
  const payload = permit ? permit2Payload(signed, permit, asset) : { authorization, signature }
  const extensions = withAllowance(terms.extensions, signed, asset)
  if (terms.version === 1) {
    return { x402Version: 1, scheme: terms.scheme, network: terms.network, payload }
  }
  return {
    x402Version: 2,
    payload,
    ...(extensions === undefined ? {} : { extensions }),
    ...(terms.resource === undefined ? {} : { resource: terms.resource }),
    accepted: terms.requirement,
  }
}
