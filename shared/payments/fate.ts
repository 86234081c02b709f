/**
 * What the chain shows of a payment, in one form for EIP-3009 and Permit2. Only read here: watch.ts
 * books it.
 */
import { isAgreed } from '../chains/evm/agreement.ts'
import type { Unavailable } from '../chains/evm/answer.ts'
import type { AuthorizationFate, AuthorizationQuestion } from '../chains/evm/authorization.ts'
import {
  authorizationState,
  canNeverBeUsed,
  readAuthorization,
} from '../chains/evm/authorization.ts'
import { isBelievedUnspent, showsUnspent } from '../chains/evm/believed.ts'
import { nonceState, readBitmap } from '../chains/evm/permit2.ts'
import type { Rpc } from '../chains/evm/rpc.ts'
import type { Settlement } from '../chains/evm/settlement.ts'
import type { NonceState } from '../chains/evm/spending-block.ts'
import { findSpendingBlock } from '../chains/evm/spending-block.ts'
import { isOver, isUseFinal } from '../chains/evm/unused.ts'
import { assetOf } from '../chains/registry.ts'
import type { World } from '../world.ts'
import type { Payment } from './payment.ts'
import type { Signed } from './questions.ts'
import { authorizationQuestion, endSecondsOf, permitQuestion } from './questions.ts'

/** Whether the endpoints show its nonce as unspent now, and none of them otherwise. */
export function isShownUnspent(world: World, payment: Signed): Promise<boolean> {
  return isBelievedUnspent(world, assetOf(payment).chain, nonceStateOf(payment))
}

/** Whether enough endpoints show its nonce as unspent in that block or later. */
export function isUnspent(world: World, payment: Signed, since: bigint): Promise<boolean> {
  const { chain } = assetOf(payment)
  const nonce = nonceStateOf(payment)
  return isAgreed(world, chain, (rpc) => showsUnspent(rpc, chain, nonce, since))
}

function nonceStateOf(payment: Signed): NonceState {
  const permit = permitQuestion(payment)?.permit
  return permit ? nonceState(permit) : authorizationState(authorizationQuestion(payment))
}

/** A settlement in the words of SQL, which picks among its logs one that is no other payment's. */
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

/** Whether enough endpoints say that it can never settle any more. */
export function isEnded(world: World, payment: Signed): Promise<boolean> {
  const permit = permitQuestion(payment)
  const end = endSecondsOf(payment)
  return isAgreed(world, assetOf(payment).chain, async (rpc) =>
    permit
      ? isOver(await readBitmap(rpc, permit), end)
      : canNeverBeUsed(await readAuthorization(rpc, authorizationQuestion(payment)), end),
  )
}

/**
 * Whether enough endpoints say that it was used in a final block, though none shows in which: a node
 * need not keep the states of old blocks, but after its end nothing can have used it.
 */
export function isUsedForGood(world: World, payment: Signed): Promise<boolean> {
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

/** What became of an authorization: by its log, which is looked for again in the block that spent it. */
export async function findAuthorization(
  rpc: Rpc,
  question: AuthorizationQuestion,
): Promise<AuthorizationFate | Unavailable> {
  const seen = await readAuthorization(rpc, question)
  if (seen.status !== 'untraced') return seen
  const state = authorizationState(question)
  const only = await findSpendingBlock(rpc, question.chain, state, seen.latest)
  return only === undefined ? seen : readAuthorization(rpc, { ...question, only })
}
