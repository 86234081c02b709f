/**
 * What the chain shows of a payment, in one form for EIP-3009 and Permit2. Only read here: watch.ts
 * books it. Of a permit that was used, less than the amount counts only where that is beyond doubt.
 */
import type { AgreedFate } from '../chains/evm/agreed-authorization.ts'
import { agreeOnUse } from '../chains/evm/agreed-authorization.ts'
import { isAgreed } from '../chains/evm/agreement.ts'
import type { Unavailable } from '../chains/evm/answer.ts'
import type { AuthorizationFate, AuthorizationQuestion } from '../chains/evm/authorization.ts'
import {
  authorizationState,
  canNeverBeUsed,
  readAuthorization,
} from '../chains/evm/authorization.ts'
import type { Shown } from '../chains/evm/believed.ts'
import { isBelieved, showsUnspent } from '../chains/evm/believed.ts'
import { showsAsFinal } from '../chains/evm/final.ts'
import { searchedRange } from '../chains/evm/log-ranges.ts'
import type { PermitQuestion } from '../chains/evm/permit2.ts'
import { nonceState, readBitmap } from '../chains/evm/permit2.ts'
import type { PlacedUse } from '../chains/evm/permit2-block.ts'
import { findAlone, inFull, isLess, readMoved, showBlock } from '../chains/evm/permit2-block.ts'
import type { ChainWorld, Rpc } from '../chains/evm/rpc.ts'
import { rpcFor } from '../chains/evm/rpc.ts'
import type { Settlement } from '../chains/evm/settlement.ts'
import { placeOf, readHeads } from '../chains/evm/settlement.ts'
import type { NonceState } from '../chains/evm/spending-block.ts'
import { findSpendingBlock, readStates } from '../chains/evm/spending-block.ts'
import type { Untraced, Unused } from '../chains/evm/unused.ts'
import { isOver, isUseFinal } from '../chains/evm/unused.ts'
import { assetOf } from '../chains/registry.ts'
import type { World } from '../world.ts'
import type { Payment } from './payment.ts'
import type { Signed } from './questions.ts'
import { authorizationQuestion, endSecondsOf, permitQuestion, sinceOf } from './questions.ts'

/** Asks the chain for the fate of a payment. */
export async function fateOf(world: World, payment: Signed): Promise<AgreedFate | Unavailable> {
  const permit = permitQuestion(payment)
  if (!permit) {
    const question = authorizationQuestion(payment)
    return agreeOnUse(world, question.chain, (rpc) => findAuthorization(rpc, question))
  }
  const fate = await findPermit(world, permit, sinceOf(payment))
  if (fate.status !== 'used') return fate
  const settlement = await agreeOnPermit(world, payment, permit, fate.settlement)
  return settlement ? { status: 'used', settlement } : { status: 'contradicted' }
}

/**
 * The settlement of a permit, final only where enough endpoints show it so; undefined where another one
 * shows the permit as unused.
 */
export async function agreeOnPermit(
  world: World,
  payment: Signed,
  permit: PermitQuestion,
  shown: Settlement,
): Promise<Settlement | undefined> {
  if (!(await isShown(world, payment, 'spent', shown.blockNumber))) return undefined
  if (shown.finality !== 'finalized') return shown
  // The block may stand without the payment in it.
  const isTrue = await isAgreed(world, permit.chain, async (rpc) => {
    const isFinal = await showsAsFinal(rpc, shown)
    return isFinal && (await readBitmap(rpc, permit)).status === 'spent'
  })
  return isTrue ? shown : { ...shown, finality: 'safe' }
}

/** Whether the endpoints show its nonce so, and none of them otherwise. */
export function isShown(world: World, payment: Signed, as: Shown, since = 0n): Promise<boolean> {
  return isBelieved(world, assetOf(payment).chain, nonceStateOf(payment), as, since)
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

/** As of an authorization; only its owner could cancel a permit. */
export type PermitFate = { status: 'used'; settlement: Settlement } | Untraced | Unused

/**
 * What became of a permit, by what moved in the block that spent its nonce. What cannot be told apart
 * counts in full. `since`: the latest block when it was signed.
 */
export async function findPermit(
  world: ChainWorld,
  question: PermitQuestion,
  since?: bigint,
): Promise<PermitFate | Unavailable> {
  const rpc = rpcFor(world, question.chain)
  const seen = await readBitmap(rpc, question)
  if (seen.status !== 'spent') return seen
  const { latest, heads, isFinal, finalSeconds } = seen
  const placed = await placeUse(world, question, latest, since)
  if (!placed) return { status: 'untraced', latest, isFinal, finalSeconds }
  const place = placeOf({ number: placed.blockNumber, hash: placed.blockHash }, readHeads(heads))
  return { status: 'used', settlement: { ...place, ...placed.shown } }
}

async function placeUse(
  world: ChainWorld,
  question: PermitQuestion,
  latest: bigint,
  since: bigint | undefined,
): Promise<PlacedUse | undefined> {
  const { chain, token, permit } = question
  const rpc = rpcFor(world, chain)
  const block = await findSpendingBlock(rpc, chain, nonceState(permit), latest)
  if (block === undefined) {
    const read = await readMoved(rpc, token, permit, searchedRange(latest, since))
    return 'moved' in read ? findAlone(rpc, permit, read.moved) : undefined
  }
  const placed = await showBlock(rpc, token, permit, block)
  if (!placed || !isLess(permit, placed)) return placed
  const isTrue = await isAgreed(world, chain, (other) => shows(other, question, placed))
  return isTrue ? placed : inFull(placed)
}

/** Whether this endpoint, too, says that it was used in that block, and what was taken. */
async function shows(
  rpc: Rpc,
  { chain, token, permit }: PermitQuestion,
  { blockNumber, blockHash, shown }: PlacedUse,
): Promise<boolean> {
  const blocks = [blockNumber - 1n, blockNumber]
  const [before, after] = await readStates(rpc, chain, nonceState(permit), blocks)
  const own = await showBlock(rpc, token, permit, blockNumber)
  const isSame = own?.blockHash === blockHash && own.shown.takenAtomic === shown.takenAtomic
  return before === false && after === true && isSame
}
