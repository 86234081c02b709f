/**
 * A payment as transfer_status answers it: where it stands on chain, and what lets a third party
 * check that without trusting the service.
 */
import { assetOf } from '../chains/registry.ts'
import { storedPreimage } from '../custody/nonce.ts'
import { formatAmount } from '../money/amount.ts'
import type { Payment } from './payment.ts'
import type { Watched } from './watch.ts'
import { statusOf } from './words.ts'

/** The answer for a payment and the confirmations that were just counted. */
export function statusBody({ payment, confirmations }: Watched) {
  const { chain, token } = assetOf(payment)
  const hash = payment.tx_hash
  return {
    transfer_id: payment.id,
    status: statusOf(payment.state),
    finality: payment.finality,
    chain: chain.caip2,
    tx_hash: hash,
    block_number: payment.block_number === null ? null : payment.block_number.toString(),
    block_hash: payment.block_hash,
    confirmations,
    from: payment.wallet,
    to: payment.payee,
    token: token.symbol,
    amount: formatAmount(payment.amount_atomic, token.decimals),
    amount_atomic: payment.amount_atomic.toString(),
    consent_level: payment.consent_level,
    proof: proofOf(payment),
    explorer_url: hash === null ? null : `${chain.explorerUrl}/tx/${hash}`,
  }
}

/** What lets a third party match the log on chain with this payment. */
function proofOf(payment: Payment) {
  if (payment.state !== 'settled' || payment.log_index === null) return null
  return {
    log_index: payment.log_index,
    authorization_nonce: payment.authorization_nonce,
    nonce_preimage: storedPreimage(payment),
  }
}
