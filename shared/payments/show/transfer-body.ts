/**
 * Describes a transfer as wallet_custodial_transfer returns it. An outcome that is not known yet is
 * `submitted`: nothing is called failed or settled before the chain shows it.
 */
import { assetOf } from '../../chains/registry.ts'
import { formatAmount } from '../../money/amount.ts'
import { nextCall } from '../next-call.ts'
import type { Payment } from '../payment.ts'
import { coveredBy, statusOf, summaryOf } from '../words.ts'

/** Returns the answer for a transfer that waits for no confirmation. */
export function transferBody(payment: Payment) {
  const { chain, token } = assetOf(payment)
  const { payee: address, payee_alias: alias } = payment
  return {
    transfer_id: payment.id,
    status: statusOf(payment.state),
    requires_user_confirm: false,
    reasons: [],
    summary: summaryOf(payment),
    chain: chain.caip2,
    token: token.symbol,
    amount: formatAmount(payment.amount_atomic, token.decimals),
    amount_atomic: payment.amount_atomic.toString(),
    recipient: { address, ...(alias === null ? {} : { alias }) },
    ...(payment.tx_hash === null ? {} : { tx_hash: payment.tx_hash }),
    finality: payment.finality,
    consent_level: payment.consent_level,
    ...coveredBy(payment.mandate),
    next: nextCall(payment, false),
  }
}
