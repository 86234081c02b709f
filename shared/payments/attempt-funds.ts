/** What a wallet holds of the one token that an attempt pays with. */
import type { Balances } from '../chains/evm/balances.ts'
import { readBalances } from '../chains/evm/balances.ts'
import type { Context } from '../http/handler.ts'
import type { PayableOffer } from '../x402/offers.ts'
import type { Payment } from './payment.ts'

/** The balance of one token of a wallet. */
export function readFunds(
  context: Context,
  address: Payment['wallet'],
  chain: PayableOffer['chain'],
  token: PayableOffer['token'],
) {
  return readBalances(context.world, chain, { address, tokens: [token] })
}

/** The only amount in a reading of one token. */
export function heldOf(seen: Balances): bigint {
  return seen.tokens[0]?.amountAtomic ?? 0n
}
