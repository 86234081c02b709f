/** What a decision about an entered payment is taken from, out of what the database told of it. */
import { digestOf, paymentTerms } from '../consent/terms.ts'
import type { Facts } from '../policy/facts.ts'
import { hostOf } from '../policy/merchant-host.ts'
import type { Entered } from './entered.ts'
import { isForOther } from './oddities.ts'

/** All facts, with the agent's word whether the user confirmed. */
export async function factsOf(entered: Entered, userConfirmed: boolean): Promise<Facts> {
  const { facts, payment_row: payment } = entered
  const { limits, caps, approval } = facts
  return {
    kind: payment.kind,
    amountUsdMicros: payment.amount_usd_micros,
    chain: payment.chain,
    token: payment.token,
    payTo: payment.payee,
    heard: payment.heard,
    host: hostOf(payment.terms['origin']),
    otherResource: isForOther(payment),
    deviceKnown: facts.device_known,
    similarRecipient: facts.similar_recipient,
    history: facts.history,
    automaticDaily: limits.automatic_daily,
    assertedDaily: limits.asserted_daily,
    dailySpendingCap: limits.daily_spending_cap,
    credentialPaymentCap: caps.payment,
    credentialDaily: caps.daily,
    assertedNewRecipient: facts.asserted_new_recipient,
    recipientKnown: facts.recipient_known,
    userConfirmed,
    ownerApproved: approval && (await isApproved(entered)) ? approval.level : null,
    hasPasskey: facts.has_passkey,
    mandates: facts.mandates,
    // The second is not over yet: a mandate that ends within it would not be taken by the database.
    now: new Date((facts.now + 1) * 1000),
  }
}

/** Whether the owner approved the terms that the payment has. */
export async function isApproved({ payment_row: payment, facts: { approval } }: Entered) {
  if (approval?.decision !== 'approved') return false
  return approval.digest === (await digestOf(paymentTerms(payment)))
}
