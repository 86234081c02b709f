/** Reads whether a wallet can pay an x402 offer now: its balance, the token's bars, Permit2's allowance. */

import { readBalanceAndBar } from '../../chains/evm/funds.ts'
import { readAllowance } from '../../chains/evm/permit2/allowance.ts'
import type { OpenSignature } from '../../chains/evm/signature-use.ts'
import type { Permit2Form } from '../../custody/permit2-terms.ts'
import { permit2Spenders } from '../../custody/permit2-terms.ts'
import type { Context } from '../../http/handler.ts'
import type { PayableOffer } from '../../x402/offers.ts'
import { isSponsored } from '../../x402/permit2.ts'
import type { Payment } from '../payment.ts'

type Asset = Pick<PayableOffer, 'chain' | 'token'>

/** Reads the wallet's balance of one token, with what `open` ones took, and whether it may go to the payee. */
export function readFunds(
  { world }: Context,
  { chain, token }: Asset,
  { wallet, payee }: Pick<Payment, 'wallet' | 'payee'>,
  open: readonly OpenSignature[],
) {
  return readBalanceAndBar(world, chain, { token, wallet, payee }, open)
}

/** Payment by Permit2, with the extensions of the server that asks for it. */
type Permitted = {
  wallet: Payment['wallet']
  amountAtomic: bigint
  extensions: unknown
  scheme: Permit2Form['scheme']
}

/**
 * Reads whether Permit2 may take the amount: `covered` by the present allowance, or `sponsored` with an
 * EIP-2612 permit of this nonce, which the server sends on chain. `not_allowed` comes with its reason.
 */
export async function allowanceFor(
  context: Context,
  { chain, token }: Asset,
  { wallet, amountAtomic, extensions, scheme }: Permitted,
) {
  const spender = permit2Spenders[scheme]
  const seen = await readAllowance(context.world, chain, token, { wallet, spender })
  if (seen.status === 'unavailable') return seen
  if (seen.status === 'absent') {
    const reason = `Permit2 and the proxy of x402 are not both on ${chain.title}.`
    return { status: 'not_allowed' as const, reason }
  }
  if (seen.allowanceAtomic >= amountAtomic) return { status: 'covered' as const }
  if (!isSponsored(extensions)) return { status: 'not_allowed' as const, reason: notAllowed }
  return { status: 'sponsored' as const, allowanceNonce: seen.permitNonce.toString() }
}

const notAllowed =
  'Permit2 may not take this much from the wallet, and the server does not sponsor an allowance.'
