/**
 * From facts to a decision in the words of the wire: what is asked, of whom, and the digest of the
 * terms that a confirmation is bound to.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import { sha256Hex } from '../digest.ts'
import { formatUsd } from '../money/amount.ts'
import type { Decision } from '../policy/decide.ts'
import { decide } from '../policy/decide.ts'
import type { ConsentLevel } from '../policy/facts.ts'
import type { Entered, Payment } from './payment.ts'
import { reasonBody } from './words.ts'

/** Decides about an entered payment. */
export function decideEntered(entered: Entered, isConfirmedByUser: boolean): Decision {
  const { facts, payment_row: payment } = entered
  return decide({
    amountUsdMicros: payment.amount_usd_micros,
    automaticDaily: facts.limits.automatic_daily,
    assertedDaily: facts.limits.asserted_daily,
    dailySpendingCap: facts.limits.daily_spending_cap,
    assertedNewRecipientLimit: facts.asserted_new_recipient_limit,
    recipientKnown: facts.recipient_known,
    deviceKnown: facts.device_known,
    similarRecipient: facts.similar_recipient,
    userConfirmed: isConfirmedByUser,
  })
}

/** The refusal of a payment that no confirmation can carry, with what would pass. */
export function limitExceeded(
  decision: Decision & { verdict: 'refuse' },
): Refusal<'limit_exceeded'> {
  const reasons = decision.reasons.map(reasonBody)
  const headroom = decision.reasons[0]?.headroomUsdMicros ?? 0n
  return fail('limit_exceeded', {
    details: { reasons },
    hint: `At most ${formatUsd(headroom)} USD can be paid now; the owner can raise the cap.`,
  })
}

/** What a pending confirmation says (INTERFACE `confirmation`). */
export async function confirmationOf(payment: Payment, level: ConsentLevel) {
  return {
    level,
    digest: await termsDigest(payment),
    expires_at: payment.expires_at,
    status: 'pending' as const,
  }
}

/**
 * SHA-256 over the canonical terms, keys sorted as RFC 8785 asks: consent to them cannot be moved
 * to another payment.
 */
function termsDigest(payment: Payment): Promise<string> {
  const { request_digest: requestDigest, origin } = payment.terms
  const terms = {
    amount_atomic: payment.amount_atomic.toString(),
    chain: `eip155:${payment.chain}`,
    expires_at: payment.expires_at,
    ...(typeof origin === 'string' ? { origin } : {}),
    pay_to: payment.payee,
    payment_id: payment.id,
    ...(typeof requestDigest === 'string' ? { request_digest: requestDigest } : {}),
    token: payment.token,
    v: 1,
  }
  return sha256Hex(`aoa-consent-v1\0${JSON.stringify(terms)}`)
}
