/**
 * The digest of a payment's terms that consent is bound to: SHA-256 over the canonical JSON, keys
 * sorted as RFC 8785 asks. SQL works out the same from its row (private.terms_digest), so consent
 * cannot be moved to another payment, nor to other terms of the same one.
 */
import { sha256Hex } from '../digest.ts'
import type { Payment } from './payment.ts'

/** Lower-case hex; the times in it have milliseconds. */
export function termsDigest(payment: Payment): Promise<string> {
  const { request_digest: requestDigest, origin } = payment.terms
  const terms = {
    account_id: payment.account,
    amount_atomic: payment.amount_atomic.toString(),
    chain: `eip155:${payment.chain}`,
    expires_at: payment.expires_at,
    ...(typeof origin === 'string' ? { origin } : {}),
    pay_to: payment.payee,
    payment_id: payment.id,
    ...(typeof requestDigest === 'string' ? { request_digest: requestDigest } : {}),
    token: payment.token,
    type: payment.kind,
    v: 1,
  }
  return sha256Hex(`aoa-consent-v1\0${JSON.stringify(terms)}`)
}
