/** What a wallet holds of the one token that an attempt pays with, and what Permit2 may take of it. */
import { readAllowance } from '../chains/evm/allowance.ts'
import type { Balances } from '../chains/evm/balances.ts'
import { readBalances } from '../chains/evm/balances.ts'
import type { Context } from '../http/handler.ts'
import type { PayableOffer } from '../x402/offers.ts'
import { isSponsored } from '../x402/permit2.ts'
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

/** A payment by Permit2, and the extensions of the server that asks for it. */
type Permitted = { wallet: Payment['wallet']; amountAtomic: bigint; extensions: unknown }

/**
 * Whether Permit2 may take the amount: by what it is allowed already, or with the EIP-2612 permit of
 * this nonce, which the server has sent on chain.
 */
export async function allowanceFor(
  context: Context,
  { chain, token }: Pick<PayableOffer, 'chain' | 'token'>,
  { wallet, amountAtomic, extensions }: Permitted,
) {
  const seen = await readAllowance(context.world, chain, token, wallet)
  if (seen.status !== 'ok') return seen
  if (seen.allowanceAtomic >= amountAtomic) return { status: 'covered' as const }
  if (!isSponsored(extensions)) return { status: 'not_allowed' as const }
  return { status: 'sponsored' as const, allowanceNonce: seen.permitNonce.toString() }
}

/** Told where neither is so. */
export const notAllowed =
  'Permit2 may not take this much from the wallet, and the server does not sponsor an allowance.'
