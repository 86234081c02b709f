/** Builds the questions that are asked of a chain about a signed payment. */

import type { AuthorizationQuestion } from '../../chains/evm/authorization.ts'
import type { PermitQuestion } from '../../chains/evm/permit2/permit2.ts'
import type { PermitTimes } from '../../chains/evm/quorum/agreed-permit.ts'
import { assetOf } from '../../chains/registry.ts'
import { permit2Of } from '../../custody/permit2-terms.ts'
import type { Payment } from '../payment.ts'

/** Payment that was signed, as every question about its outcome takes it. */
export type SignedPaymentRow = Payment & {
  authorization_nonce: NonNullable<Payment['authorization_nonce']>
}

/** Returns the question about a Permit2 permit; undefined for other payments. */
export function permitQuestion({
  terms,
  wallet,
  payee,
  amount_atomic,
  ...payment
}: SignedPaymentRow): PermitQuestion | undefined {
  const form = permit2Of(terms)
  if (!form) return undefined
  const { authorization_nonce: nonce } = payment
  const amount = { scheme: form.scheme, amountAtomic: amount_atomic }
  return { ...assetOf(payment), permit: { from: wallet, to: payee, nonce, ...amount } }
}

/** Returns the question about a payment by EIP-3009. */
export function authorizationQuestion(payment: SignedPaymentRow): AuthorizationQuestion {
  const { wallet: from, authorization_nonce: nonce } = payment
  return { ...assetOf(payment), from, nonce, since: sinceOf(payment) }
}

/** Returns when a permit was valid, and the block in which it is booked. */
export function permitTimesOf(payment: Payment): PermitTimes {
  const { block_number: block } = payment
  const times = { since: sinceOf(payment), endSeconds: endSecondsOf(payment) }
  return block === null ? times : { ...times, expected: BigInt(block) }
}

/** Returns the latest block at the time of signing. */
function sinceOf({ authorized_block: block }: Payment): bigint | undefined {
  return block === null ? undefined : BigInt(block)
}

/** Returns the Unix seconds from which it is unusable. A permit is good at its deadline (Permit2). */
export function endSecondsOf({ terms, valid_before }: Payment): bigint {
  const end = BigInt(valid_before ?? 0)
  return permit2Of(terms) ? end + 1n : end
}
