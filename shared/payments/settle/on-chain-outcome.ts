/** Reads what the chain shows of a payment, in one form for EIP-3009 and Permit2. watch.ts books it. */

import type { AuthorizationOutcome, AuthorizationQuestion } from '../../chains/evm/authorization.ts'
import {
  authorizationState,
  canNeverBeUsed,
  readAuthorization,
} from '../../chains/evm/authorization.ts'
import { nonceState, readBitmap } from '../../chains/evm/permit2/permit2.ts'
import { isAgreed } from '../../chains/evm/quorum/agreement.ts'
import { isAgreedUnspent, showsUnspent } from '../../chains/evm/quorum/believed.ts'
import type { NonceState } from '../../chains/evm/quorum/spending-block.ts'
import { findSpendingBlock } from '../../chains/evm/quorum/spending-block.ts'
import { isFinallyUnused, isUseFinal } from '../../chains/evm/quorum/unused.ts'
import type { Unavailable } from '../../chains/evm/rpc/answer.ts'
import type { Rpc } from '../../chains/evm/rpc/rpc.ts'
import type { Settlement } from '../../chains/evm/settlement.ts'
import { assetOf } from '../../chains/registry.ts'
import type { World } from '../../world.ts'
import type { Payment } from '../payment.ts'
import type { SignedPaymentRow } from './questions.ts'
import { authorizationQuestion, endSecondsOf, permitQuestion } from './questions.ts'

/** True if the endpoints show the payment's nonce as unspent now and none shows otherwise. */
export function isShownUnspent(world: World, payment: SignedPaymentRow): Promise<boolean> {
  return isAgreedUnspent(world, assetOf(payment).chain, nonceStateOf(payment))
}

/** True if enough endpoints show its nonce as unspent in that block or later. */
export function isUnspent(
  world: World,
  payment: SignedPaymentRow,
  since: bigint,
): Promise<boolean> {
  const { chain } = assetOf(payment)
  const nonce = nonceStateOf(payment)
  return isAgreed(world, chain, (rpc) => showsUnspent(rpc, chain, nonce, since))
}

function nonceStateOf(payment: SignedPaymentRow): NonceState {
  const permit = permitQuestion(payment)?.permit
  return permit ? nonceState(permit) : authorizationState(authorizationQuestion(payment))
}

/** Converts a settlement to SQL arguments. SQL picks a log of it that belongs to no other payment. */
export function settlementOf({ id }: Payment, settlement: Settlement) {
  const { transactionHash, blockNumber, blockHash, logs, finality, takenAtomic } = settlement
  return {
    payment: id,
    tx_hash: transactionHash,
    block_number: Number(blockNumber),
    block_hash: blockHash,
    logs: logs.map((log) => ({ tx_hash: log.transactionHash, log_index: log.logIndex })),
    finality,
    settled_atomic: takenAtomic?.toString() ?? null,
  }
}

/** True if enough endpoints show that the payment can never settle any more. */
export function isEnded(world: World, payment: SignedPaymentRow): Promise<boolean> {
  const permit = permitQuestion(payment)
  const end = endSecondsOf(payment)
  return isAgreed(world, assetOf(payment).chain, async (rpc) =>
    permit
      ? isFinallyUnused(await readBitmap(rpc, permit), end)
      : canNeverBeUsed(await readAuthorization(rpc, authorizationQuestion(payment)), end),
  )
}

/**
 * True if enough endpoints show that the signature was used in a final block, even if none shows in which.
 * A node need not keep the states of old blocks, but after its end nothing can have used the signature.
 */
export function isUsedForGood(world: World, payment: SignedPaymentRow): Promise<boolean> {
  const permit = permitQuestion(payment)
  const end = endSecondsOf(payment)
  return isAgreed(world, assetOf(payment).chain, async (rpc) => {
    const seen = permit
      ? await readBitmap(rpc, permit)
      : await readAuthorization(rpc, authorizationQuestion(payment))
    if (seen.status === 'used') return seen.finality === 'finalized'
    return 'isFinal' in seen && isUseFinal(seen, end)
  })
}

/** Finds the outcome of an authorization by its log, if need be in the block that spent its nonce. */
export async function findAuthorization(
  rpc: Rpc,
  question: AuthorizationQuestion,
): Promise<AuthorizationOutcome | Unavailable> {
  const seen = await readAuthorization(rpc, question)
  if (seen.status !== 'untraced') return seen
  const state = authorizationState(question)
  const only = await findSpendingBlock(rpc, question.chain, state, seen.latest)
  return only === undefined ? seen : readAuthorization(rpc, { ...question, only })
}
