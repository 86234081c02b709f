/**
 * Describes a payment as transfer_status and wallet_custodial_transfer return it: its state on chain, and the
 * proof of a settled one.
 */
import { proveReceipt, type ReceiptProof } from '../../chains/evm/inclusion.ts'
import type { Unavailable } from '../../chains/evm/rpc/endpoints.ts'
import { assetOf } from '../../chains/registry.ts'
import { storedPreimage } from '../../custody/nonce.ts'
import { formatAmount } from '../../money/amount.ts'
import type { World } from '../../world.ts'
import { nextCall } from '../next-call.ts'
import type { Payment } from '../payment.ts'
import type { Watched } from '../settle/watch.ts'
import { coveredBy, stateSentence, summaryOf } from '../words.ts'

/** Returns the answer for a payment and the confirmations that were just counted. */
export function statusBody({ payment, confirmations }: Watched) {
  const { chain, token } = assetOf(payment)
  const hash = payment.tx_hash
  const amountAtomic = payment.settled_atomic ?? payment.amount_atomic
  return {
    transfer_id: payment.id,
    status: stateSentence(payment.state),
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

/** Returns the answer for a transfer that waits for no confirmation. */
export function transferBody(payment: Payment) {
  const { chain, token } = assetOf(payment)
  const { payee: address, payee_alias: alias } = payment
  return {
    transfer_id: payment.id,
    status: stateSentence(payment.state),
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

/** Returns the proof of a payment, with that of its inclusion if wanted, or null while it is not settled. */
export async function transferProof(world: World, payment: Payment, withInclusion: boolean) {
  const { tx_hash, block_number, block_hash, log_index, authorization_nonce } = payment
  const isPlaced = tx_hash !== null && block_number !== null && block_hash !== null
  if (payment.state !== 'settled' || !isPlaced || log_index === null) return null
  const { chain, token } = assetOf(payment)
  const preimage = storedPreimage(payment)
  const place = { blockHash: block_hash, transactionHash: tx_hash, logIndex: log_index }
  return {
    chain: chain.caip2,
    tx_hash,
    block: { number: block_number.toString(), hash: block_hash },
    log_index,
    token: token.address,
    from: payment.wallet,
    to: payment.payee,
    amount_atomic: (payment.settled_atomic ?? payment.amount_atomic).toString(),
    authorization_nonce: preimage && authorization_nonce,
    nonce_preimage: preimage,
    inclusion: withInclusion
      ? inclusionOf(world, payment, await proveReceipt(world, chain, place))
      : null,
  }
}

/** Returns the inclusion proof; null if the node does not tell enough of the block, or it is too large. */
function inclusionOf(world: World, payment: Payment, read: ReceiptProof | Unavailable) {
  if (read.status === 'unavailable') {
    world.log({ payment: payment.id, log: `no inclusion proof: ${read.log}` })
    return null
  }
  return {
    transaction_index: read.transactionIndex,
    log_position: read.logPosition,
    receipt: read.receipt,
    receipt_proof: read.nodes,
    header: read.header,
  }
}
