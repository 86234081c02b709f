/** Converts transfers that were read on the chain to SQL arguments. */
import type { Transfer } from '../../chains/evm/transfers.ts'

/** Element of `transfers` in every SQL function that books what was read. */
export type TransferRow = ReturnType<typeof rowOf> & { nth: number }

/**
 * Converts the transfers of whole blocks, in the order of the chain. `nth` tells equal ones of a
 * transaction apart. A log index does not: it changes when the transaction moves to another block.
 */
export function transferRows(transfers: readonly Transfer[]): TransferRow[] {
  const counts = new Map<string, number>()
  return transfers.map((transfer) => {
    const row = rowOf(transfer)
    const { tx_hash, token, sender, recipient, amount_atomic } = row
    const terms = [tx_hash, token, sender, recipient, amount_atomic].join()
    const nth = (counts.get(terms) ?? 0) + 1
    counts.set(terms, nth)
    return { ...row, nth }
  })
}

function rowOf({ token, from, to, value, authorizationNonce, ...place }: Transfer) {
  return {
    token: token.address,
    sender: from,
    recipient: to,
    amount_atomic: value.toString(),
    // Less than a cent of its currency is sent only to appear in the feed.
    dust: value < 10n ** BigInt(token.decimals) / 100n,
    authorization_nonce: authorizationNonce,
    tx_hash: place.transactionHash,
    log_index: place.logIndex,
    block_number: place.blockNumber,
    block_hash: place.blockHash,
  }
}
