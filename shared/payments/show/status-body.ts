/** Describes a payment as transfer_status returns it: its state on chain. */
import { assetOf } from '../../chains/registry.ts'
import { formatAmount } from '../../money/amount.ts'
import type { Watched } from '../settle/watch.ts'
import { statusOf } from '../words.ts'

/** Returns the answer for a payment and the confirmations that were just counted. */
export function statusBody({ payment, confirmations }: Watched) {
  const { chain, token } = assetOf(payment)
  const hash = payment.tx_hash
  const amountAtomic = payment.settled_atomic ?? payment.amount_atomic
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
    amount: formatAmount(amountAtomic, token.decimals),
    amount_atomic: amountAtomic.toString(),
    consent_level: payment.consent_level,
    ...(payment.mandate === null ? {} : { mandate_id: payment.mandate }),
    explorer_url: hash === null ? null : `${chain.explorerUrl}/tx/${hash}`,
  }
}
