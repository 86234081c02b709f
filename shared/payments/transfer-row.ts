/** A transfer that was read on the chain, in the words of SQL. */
import type { Transfer } from '../chains/evm/transfers.ts'

/** One of `transfers` in every SQL function that books what was read. */
export function transferRow({ token, from, to, value, authorizationNonce, ...place }: Transfer) {
  return {
    token: token.address,
    sender: from,
    recipient: to,
    amount_atomic: value.toString(),
    // A cent of its currency; what costs less to send is sent for the line in the feed.
    dust: value < 10n ** BigInt(token.decimals) / 100n,
    authorization_nonce: authorizationNonce,
    tx_hash: place.transactionHash,
    log_index: place.logIndex,
    block_number: place.blockNumber,
    block_hash: place.blockHash,
  }
}
