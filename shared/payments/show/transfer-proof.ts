/**
 * Builds the part of a transfer_status answer with which a third party can check a settled payment without
 * trusting the service: which log it is, who authorized it, and that the log is in the block.
 */

import type { ReceiptProof } from '../../chains/evm/inclusion/receipt-proof.ts'
import { proveReceipt } from '../../chains/evm/inclusion/receipt-proof.ts'
import type { Unavailable } from '../../chains/evm/rpc/answer.ts'
import { assetOf } from '../../chains/registry.ts'
import { orderOf } from '../../custody/carrier.ts'
import { storedPreimage } from '../../custody/nonce.ts'
import { permit2Of } from '../../custody/permit2-terms.ts'
import type { World } from '../../world.ts'
import type { Payment } from '../payment.ts'

/** Returns the proof of a payment, with that of its inclusion if wanted, or null while it is not settled. */
export async function transferProof(world: World, payment: Payment, withInclusion: boolean) {
  const { tx_hash, block_number, block_hash, log_index, authorization_nonce } = payment
  const isPlaced = tx_hash !== null && block_number !== null && block_hash !== null
  if (payment.state !== 'settled' || !isPlaced || log_index === null) return null
  const { chain, token } = assetOf(payment)
  // Permit2 writes no nonce into the logs that could be checked against the payment, and a nonce that commits
  // to an order has no text as its preimage.
  const isPlain = !permit2Of(payment.terms) && orderOf(payment.terms) === undefined
  const nonce = isPlain ? authorization_nonce : null
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
    authorization_nonce: nonce,
    nonce_preimage: nonce === null ? null : storedPreimage(payment),
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
