/** A signed payment in the words of the questions that are asked of a chain about it. */
import type { PermitTimes } from '../chains/evm/agreed-permit.ts'
import type { AuthorizationQuestion } from '../chains/evm/authorization.ts'
import type { PermitQuestion } from '../chains/evm/permit2.ts'
import { assetOf } from '../chains/registry.ts'
import { permit2Of } from '../custody/permit2-terms.ts'
import type { Payment } from './payment.ts'

/** A payment that was signed: what every question about its fate takes. */
export type Signed = Payment & { authorization_nonce: NonNullable<Payment['authorization_nonce']> }

/** Undefined where it is no permit of Permit2. */
export function permitQuestion({
  terms,
  wallet,
  payee,
  amount_atomic,
  ...payment
}: Signed): PermitQuestion | undefined {
  const form = permit2Of(terms)
  if (!form) return undefined
  const { authorization_nonce: nonce } = payment
  const amount = { scheme: form.scheme, amountAtomic: amount_atomic }
  return { ...assetOf(payment), permit: { from: wallet, to: payee, nonce, ...amount } }
}

/** Of a payment by EIP-3009. */
export function authorizationQuestion(payment: Signed): AuthorizationQuestion {
  const { wallet: from, authorization_nonce: nonce } = payment
  return { ...assetOf(payment), from, nonce, since: sinceOf(payment) }
}

/** When a permit was good, and the block that it is booked in. */
export function permitTimesOf(payment: Payment): PermitTimes {
  const { block_number: block } = payment
  const times = { since: sinceOf(payment), endSeconds: endSecondsOf(payment) }
  return block === null ? times : { ...times, expected: BigInt(block) }
}

/** The latest block when it was signed. */
function sinceOf({ authorized_block: block }: Payment): bigint | undefined {
  return block === null ? undefined : BigInt(block)
}

/** Unix seconds after which it cannot be used: a permit is still good at its deadline (Permit2). */
export function endSecondsOf({ terms, valid_before }: Payment): bigint {
  const end = BigInt(valid_before ?? 0)
  return permit2Of(terms) ? end + 1n : end
}
