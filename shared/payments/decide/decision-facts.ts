/** Collects the facts for a decision about an entered payment from the database's answer. */
import { paymentTerms, termsDigest } from '../../consent/terms.ts'
import type { Facts } from '../../policy/facts.ts'
import { payableHostOf } from '../../policy/mandate.ts'
import type { PaymentWithFacts } from '../payment-with-facts.ts'
import { isForOther } from './warnings.ts'

/** Returns all facts, with the agent's claim whether the user confirmed. */
export async function factsOf(entered: PaymentWithFacts, userConfirmed: boolean): Promise<Facts> {
  const { facts, payment_row: payment } = entered
  const { limits, caps, approval } = facts
  return {
    kind: payment.kind,
    amountUsdMicros: payment.amount_usd_micros,
    chain: payment.chain,
    token: payment.token,
    payTo: payment.payee,
    verifiedWithMerchant: payment.verified_with_merchant,
    host: payableHostOf(payment.terms['origin']),
    otherResource: isForOther(payment),
    deviceKnown: facts.device_known,
    similarRecipient: facts.similar_recipient,
    history: facts.history,
    automaticDaily: limits.automatic_daily,
    assertedDaily: limits.asserted_daily,
    dailySpendingCap: limits.daily_spending_cap,
    monthlySpendingCap: limits.monthly_spending_cap,
    credentialPaymentCap: caps.payment,
    credentialDaily: caps.daily,
    assertedNewRecipient: facts.asserted_new_recipient,
    recipientKnown: facts.recipient_known,
    userConfirmed,
    ownerApproved: approval && (await isApproved(entered)) ? approval.level : null,
    passesDailyCap: payment.passes_daily_cap,
    hasPasskey: facts.has_passkey,
    mandates: facts.mandates,
    // The current second is not over: the database would not accept a mandate that ends within it.
    now: new Date((facts.now + 1) * 1000),
  }
}

/** True if the owner approved exactly the terms that the payment has. */
export async function isApproved({ payment_row: payment, facts: { approval } }: PaymentWithFacts) {
  if (approval?.decision !== 'approved') return false
  return approval.digest === (await termsDigest(paymentTerms(payment)))
}
