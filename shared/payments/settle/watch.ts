/**
 * Looks at the chain and books what it shows. A payment ends only by an anchor on chain: a log in a block,
 * a use that is final, or an authorization that expired unused at a finalized block. Anything else leaves
 * it as it is, with its reservation.
 */

import { readBlockPosition } from '../../chains/evm/proof.ts'
import { agreeOnAuthorization } from '../../chains/evm/quorum/agreed-authorization.ts'
import { agreeOnPermit } from '../../chains/evm/quorum/agreed-permit.ts'
import type { AgreedOutcome } from '../../chains/evm/quorum/agreed-use.ts'
import { isAgreed } from '../../chains/evm/quorum/agreement.ts'
import { isBlockGone } from '../../chains/evm/quorum/block-gone.ts'
import type { Unavailable } from '../../chains/evm/rpc/answer.ts'
import { hasOneOperator } from '../../chains/evm/rpc/endpoints.ts'
import { showsAsFinal } from '../../chains/evm/rpc/final.ts'
import { withEndpointTimeBudget } from '../../chains/evm/rpc/rpc.ts'
import type { Settlement, UseEvidence } from '../../chains/evm/settlement.ts'
import { assetOf } from '../../chains/registry.ts'
import { permit2Of } from '../../custody/permit2-terms.ts'
import type { CallerDatabase } from '../../db/database.ts'
import type { World } from '../../world.ts'
import type { Payment } from '../payment.ts'
import { foundRow } from '../payment.ts'
import {
  findAuthorization,
  isEnded,
  isUnspent,
  isUsedForGood,
  settlementOf,
} from './on-chain-outcome.ts'
import type { SignedPaymentRow } from './questions.ts'
import { authorizationQuestion, endSecondsOf, permitQuestion, permitTimesOf } from './questions.ts'

/** Payment after a look at the chain. */
export type Watched = {
  payment: Payment
  /** Number of blocks from the payment's own to the latest, or 0. */
  confirmations: number
  /** True if the chain shows that its signature was not used. */
  isUnused?: true
}

/** Reads the chain once for this payment, and books what it shows. */
export function watchPayment(world: World, db: CallerDatabase, payment: Payment): Promise<Watched> {
  return lookAtPayment(withEndpointTimeBudget(world), db, payment)
}

async function lookAtPayment(world: World, db: CallerDatabase, payment: Payment): Promise<Watched> {
  const { authorization_nonce, state, finality } = payment
  if (state === 'settled' && finality === 'finalized') return countConfirmations(world, payment)
  if (authorization_nonce === null) return untouched(payment)
  const signed = { ...payment, authorization_nonce }
  return state === 'settled' ? watchSettled(world, db, signed) : trace(world, db, signed)
}

const untouched = (payment: Payment): Watched => ({ payment, confirmations: 0 })

const endReasons = {
  unused: 'the authorization expired unused',
  canceled: 'the authorization was cancelled',
}

async function trace(
  world: World,
  db: CallerDatabase,
  payment: SignedPaymentRow,
): Promise<Watched> {
  const outcome = await readOnChainOutcome(world, payment)
  if (outcome.status === 'used') return settleUsed(world, db, payment, outcome)
  const isOver = hasEnded(world, payment)
  if (outcome.status === 'untraced' && (outcome.isFinal || isOver)) {
    return settleSomewhere(world, db, payment)
  }
  if (outcome.status !== 'unused' && outcome.status !== 'canceled') return untouched(payment)
  return isOver && (await isEnded(world, payment))
    ? release(world, db, payment, endReasons[outcome.status])
    : { ...untouched(payment), isUnused: true }
}

/** Asks the chain for the outcome of a payment. */
function readOnChainOutcome(
  world: World,
  payment: SignedPaymentRow,
): Promise<AgreedOutcome | Unavailable> {
  const permit = permitQuestion(payment)
  if (permit) return agreeOnPermit(world, permit, permitTimesOf(payment))
  const question = authorizationQuestion(payment)
  const { chain } = question
  return agreeOnAuthorization(world, chain, (rpc) => findAuthorization(rpc, question))
}

async function countConfirmations(world: World, payment: Payment): Promise<Watched> {
  const { block_number: number, block_hash: hash } = payment
  if (number === null || hash === null) return untouched(payment)
  const place = await readBlockPosition(world, assetOf(payment).chain, { number, hash })
  return { ...untouched(payment), confirmations: place?.confirmations ?? 0 }
}

/** Looks at a settled payment. Books what the chain shows at this look, and at no earlier one. */
async function watchSettled(
  world: World,
  db: CallerDatabase,
  payment: SignedPaymentRow,
): Promise<Watched> {
  const outcome = await readOnChainOutcome(world, payment)
  if (outcome.status === 'used') {
    const settlement = withLess(payment, outcome.settlement)
    return settleUsed(world, db, payment, { ...outcome, settlement })
  }
  const isUnused =
    outcome.status === 'unused' && outcome.latest >= BigInt(payment.block_number ?? 0)
  const isContradicted = outcome.status === 'contradicted' || outcome.status === 'canceled'
  if (isUnused || isContradicted) return takeBack(db, payment)
  const isLost = outcome.status === 'untraced' && permit2Of(payment.terms) !== undefined
  return isLost && hasEnded(world, payment)
    ? settleWhereLost(world, db, payment)
    : lookForReorg(world, db, payment)
}

/**
 * Keeps a smaller amount that is booked in the same block. Less than was signed is booked only if enough
 * endpoints showed it, and they soon forget the states of blocks.
 */
function withLess(payment: Payment, shown: Settlement): Settlement {
  const less = bookedLess(payment)
  return less && shown.blockHash === payment.block_hash ? { ...shown, ...less } : shown
}

function bookedLess(payment: Payment): UseEvidence | undefined {
  const { tx_hash: transactionHash, log_index: logIndex, settled_atomic: takenAtomic } = payment
  if (transactionHash === null || logIndex === null) return undefined
  if (takenAtomic === null || takenAtomic >= payment.amount_atomic) return undefined
  return { transactionHash, logs: [{ transactionHash, logIndex }], takenAtomic }
}

/** Handles a settled permit that is spent, while no endpoint shows where any more. */
async function settleWhereLost(
  world: World,
  db: CallerDatabase,
  payment: SignedPaymentRow,
): Promise<Watched> {
  const { block_number: number, block_hash: blockHash } = payment
  if (number === null || blockHash === null) return untouched(payment)
  const less = bookedLess(payment)
  const block = { blockNumber: BigInt(number), blockHash }
  if (!less) return settleSomewhere(world, db, payment)
  const isFinal = await isAgreed(world, assetOf(payment).chain, (rpc) => showsAsFinal(rpc, block))
  return isFinal
    ? settle(db, payment, { ...block, ...less, confirmations: 1, finality: 'finalized' })
    : untouched(payment)
}

function hasEnded(world: World, payment: Payment): boolean {
  return BigInt(Math.floor(world.now().getTime() / 1000)) >= endSecondsOf(payment)
}

/** Seconds within which a node may find the log of an authorization again. */
const lostLogSeconds = 3_600n

/**
 * Books a payment in full if it is final that the signature was used and no log can be identified as its
 * own, so that nothing stays reserved for ever.
 */
async function settleSomewhere(
  world: World,
  db: CallerDatabase,
  payment: SignedPaymentRow,
): Promise<Watched> {
  const patience = permit2Of(payment.terms) ? 0n : endSecondsOf(payment) + lostLogSeconds
  if (BigInt(Math.floor(world.now().getTime() / 1000)) < patience) return untouched(payment)
  if (!(await isUsedForGood(world, payment))) return untouched(payment)
  const question = { payment: payment.id, logs: [], finality: 'finalized' }
  const booked = await db.one('housekeeping_settle', question, foundRow)
  return untouched(booked?.payment_row ?? payment)
}

/** Books a use. Of a permit that has ended, only the use is booked while endpoints differ about its block. */
async function settleUsed(
  world: World,
  db: CallerDatabase,
  payment: SignedPaymentRow,
  { settlement, isPlaced }: { settlement: Settlement; isPlaced: boolean },
): Promise<Watched> {
  const isLost = !isPlaced && permit2Of(payment.terms) !== undefined && hasEnded(world, payment)
  return isLost ? settleSomewhere(world, db, payment) : settle(db, payment, settlement)
}

async function settle(db: CallerDatabase, payment: Payment, shown: Settlement): Promise<Watched> {
  const { confirmations } = shown
  const isSame =
    payment.state === 'settled' &&
    payment.finality === shown.finality &&
    payment.block_hash === shown.blockHash &&
    (payment.log_index !== null || shown.logs.length === 0)
  if (isSame) return { ...untouched(payment), confirmations }
  const booked = await db.one('housekeeping_settle', settlementOf(payment, shown), foundRow)
  return { ...untouched(booked?.payment_row ?? payment), confirmations }
}

/**
 * Looks whether a settlement that is no longer shown is gone: reorganized away, if another block stands
 * there now, or never in its block, if its signature was not used there.
 */
async function lookForReorg(
  world: World,
  db: CallerDatabase,
  payment: SignedPaymentRow,
): Promise<Watched> {
  const { block_number: number, block_hash: hash } = payment
  if (number === null || hash === null) return untouched(payment)
  const isGone =
    (await isBlockGone(world, assetOf(payment).chain, { number, hash })) ||
    (await isUnspent(world, payment, BigInt(number)))
  return isGone ? takeBack(db, payment) : untouched(payment)
}

/** Opens again what was booked as settled in a block and was not; what was final stays. */
async function takeBack(db: CallerDatabase, payment: Payment): Promise<Watched> {
  if (payment.state !== 'settled' || payment.block_hash === null) return untouched(payment)
  const question = { payment: payment.id, block_hash: payment.block_hash }
  const reopened = await db.one('housekeeping_reorg', question, foundRow)
  return untouched(reopened?.payment_row ?? payment)
}

async function release(
  world: World,
  db: CallerDatabase,
  payment: Payment,
  reason: string,
): Promise<Watched> {
  const alone = hasOneOperator(world.config.chainRpcUrls[assetOf(payment).chain.caip2] ?? [])
  const question = { payment: payment.id, reason, alone }
  const ended = await db.one('housekeeping_release', question, foundRow)
  return untouched(ended?.payment_row ?? payment)
}
