/**
 * What the chain shows of a payment, in one form for EIP-3009 and Permit2. Only read here: watch.ts
 * books it. A permit that was used comes with what was taken, which may be less than the amount.
 */
import { findAuthorization } from '../chains/evm/authorization.ts'
import { findPermit } from '../chains/evm/permit2.ts'
import type { Proof } from '../chains/evm/proof.ts'
import { proveTransfer } from '../chains/evm/proof.ts'
import { assetOf } from '../chains/registry.ts'
import { permit2Of } from '../custody/permit2-terms.ts'
import type { World } from '../world.ts'
import type { Payment } from './payment.ts'

/** A payment that is in a block. */
export type Settled = Extract<Proof, { status: 'settled' }>
type Hash = NonNullable<Payment['tx_hash']>
type Nonce = NonNullable<Payment['authorization_nonce']>

/**
 * The settlement of an attempt that was just sent, or undefined while the chain shows none: first
 * where the merchant claims it is, then wherever the authorization was used.
 */
export async function proveAttempt(
  world: World,
  payment: Payment,
  nonce: Nonce,
  claimed: Hash | null,
): Promise<ReturnType<typeof settlementOf> | undefined> {
  const isClaim = claimed !== null && !isBlind(payment)
  const proof = isClaim ? await prove(world, payment, claimed, nonce) : undefined
  if (proof?.status === 'settled') return settlementOf(payment, proof)
  const fate = await fateOf(world, payment, nonce)
  if (fate.status !== 'used') return undefined
  const traced = await prove(world, fate.payment, fate.transactionHash, nonce)
  return traced.status === 'settled' ? settlementOf(fate.payment, traced) : undefined
}

/** A proof in the words of SQL. */
export function settlementOf({ id, settled_atomic }: Payment, proof: Settled) {
  return {
    payment: id,
    tx_hash: proof.transactionHash,
    block_number: Number(proof.blockNumber),
    block_hash: proof.blockHash,
    log_index: proof.logIndex,
    finality: proof.finality,
    settled_atomic: settled_atomic?.toString() ?? null,
  }
}

/** Looks for the payment in one transaction. */
export function prove(world: World, payment: Payment, hash: Hash, signedNonce?: Nonce) {
  const { chain, token } = assetOf(payment)
  const nonce = signedNonce ?? payment.authorization_nonce
  const expected = {
    from: payment.wallet,
    to: payment.payee,
    value: payment.settled_atomic ?? payment.amount_atomic,
    ...(nonce === null || permit2Of(payment.terms) ? {} : { authorizationNonce: nonce }),
  }
  return proveTransfer(world, chain, token, expected, hash)
}

/** A permit leaves no nonce in the logs: of equal payments a hash could be another one's. */
export function isBlind({ state, terms }: Payment): boolean {
  return state !== 'settled' && permit2Of(terms) !== undefined
}

/** Asks the chain for the fate of a payment that was signed with this nonce. */
export async function fateOf(world: World, payment: Payment, nonce: Nonce) {
  const { chain, token } = assetOf(payment)
  const { wallet: from, payee: to, amount_atomic: amountAtomic, authorized_block } = payment
  const since = authorized_block === null ? undefined : BigInt(authorized_block)
  const permit = permit2Of(payment.terms)
  if (!permit) {
    const fate = await findAuthorization(world, chain, token, from, nonce, since)
    return { ...fate, payment }
  }
  const valueMinAtomic = permit.scheme === 'upto' ? 0n : amountAtomic
  const use = { from, to, nonce, valueMinAtomic, valueMaxAtomic: amountAtomic }
  const fate = await findPermit(world, chain, token, use, since)
  const settled_atomic = fate.status === 'used' ? fate.valueAtomic : null
  return { ...fate, payment: { ...payment, settled_atomic } }
}

/** Unix seconds after which it cannot be used: a permit is still good at its deadline (Permit2). */
export function endOf({ terms, valid_before }: Payment): bigint {
  const end = BigInt(valid_before ?? 0)
  return permit2Of(terms) ? end + 1n : end
}
