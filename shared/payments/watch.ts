/**
 * Looks at the chain and books what it shows. A payment ends only by an anchor on chain: a log in a
 * block, or an authorization that expired unused at a finalized block. Whatever else is seen leaves
 * it as it is, with its reservation.
 */

import { agreeOnAuthorization } from '../chains/evm/agreed-authorization.ts'
import { agreeOnPermit } from '../chains/evm/agreed-permit.ts'
import type { AgreedFate } from '../chains/evm/agreed-use.ts'
import { isAgreed } from '../chains/evm/agreement.ts'
import type { Unavailable } from '../chains/evm/answer.ts'
import { isBlockGone } from '../chains/evm/block-gone.ts'
import { hasOneOperator } from '../chains/evm/endpoints.ts'
import { showsAsFinal } from '../chains/evm/final.ts'
import { readPlace } from '../chains/evm/proof.ts'
import { forOneLook } from '../chains/evm/rpc.ts'
import type { Settlement, Shown } from '../chains/evm/settlement.ts'
import { assetOf } from '../chains/registry.ts'
import { permit2Of } from '../custody/permit2-terms.ts'
import type { CallerDatabase } from '../db/database.ts'
import type { World } from '../world.ts'
import { findAuthorization, isEnded, isUnspent, isUsedForGood, settlementOf } from './fate.ts'
import type { Payment } from './payment.ts'
import { foundRow } from './payment.ts'
import type { Signed } from './questions.ts'
import { authorizationQuestion, endSecondsOf, permitQuestion, permitTimesOf } from './questions.ts'

/** A payment after a look at the chain. */
export type Watched = {
  payment: Payment
  /** Blocks from the payment's own to the latest, or 0. */
  confirmations: number
  /** The chain shows that its signature was not used. */
  isUnused?: true
}

/** Reads the chain once for this payment. */
export function watchPayment(world: World, db: CallerDatabase, payment: Payment): Promise<Watched> {
  return look(forOneLook(world), db, payment)
}

async function look(world: World, db: CallerDatabase, payment: Payment): Promise<Watched> {
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

async function trace(world: World, db: CallerDatabase, payment: Signed): Promise<Watched> {
  const fate = await fateOf(world, payment)
  if (fate.status === 'used') return settle(db, payment, fate.settlement)
  const isOver = hasEnded(world, payment)
  if (fate.status === 'untraced' && (fate.isFinal || isOver)) {
    return settleSomewhere(world, db, payment)
  }
  if (fate.status !== 'unused' && fate.status !== 'canceled') return untouched(payment)
  return isOver && (await isEnded(world, payment))
    ? release(world, db, payment, endReasons[fate.status])
    : { ...untouched(payment), isUnused: true }
}

/** Asks the chain for the fate of a payment. */
function fateOf(world: World, payment: Signed): Promise<AgreedFate | Unavailable> {
  const permit = permitQuestion(payment)
  if (permit) return agreeOnPermit(world, permit, permitTimesOf(payment))
  const question = authorizationQuestion(payment)
  const { chain } = question
  return agreeOnAuthorization(world, chain, (rpc) => findAuthorization(rpc, question))
}

async function countConfirmations(world: World, payment: Payment): Promise<Watched> {
  const { block_number: number, block_hash: hash } = payment
  if (number === null || hash === null) return untouched(payment)
  const place = await readPlace(world, assetOf(payment).chain, { number, hash })
  return { ...untouched(payment), confirmations: place?.confirmations ?? 0 }
}

/** What is booked rests on what the chain shows at this look, and on no earlier one. */
async function watchSettled(world: World, db: CallerDatabase, payment: Signed): Promise<Watched> {
  const fate = await fateOf(world, payment)
  if (fate.status === 'used') return settle(db, payment, withLess(payment, fate.settlement))
  const isUnused = fate.status === 'unused' && fate.latest >= BigInt(payment.block_number ?? 0)
  const isContradicted = fate.status === 'contradicted' || fate.status === 'canceled'
  if (isUnused || isContradicted) return takeBack(db, payment)
  const isLost = fate.status === 'untraced' && permit2Of(payment.terms) !== undefined
  return isLost && hasEnded(world, payment)
    ? settleWhereLost(world, db, payment)
    : lookForReorg(world, db, payment)
}

/**
 * Less than was signed for is booked only where enough endpoints showed it: in the same block it stays, though
 * they forget the states of blocks soon.
 */
function withLess(payment: Payment, shown: Settlement): Settlement {
  const less = bookedLess(payment)
  return less && shown.blockHash === payment.block_hash ? { ...shown, ...less } : shown
}

function bookedLess(payment: Payment): Shown | undefined {
  const { tx_hash: transactionHash, log_index: logIndex, settled_atomic: takenAtomic } = payment
  if (transactionHash === null || logIndex === null) return undefined
  if (takenAtomic === null || takenAtomic >= payment.amount_atomic) return undefined
  return { transactionHash, logs: [{ transactionHash, logIndex }], takenAtomic }
}

/** A settled permit that is spent, and no endpoint shows where any more. */
async function settleWhereLost(
  world: World,
  db: CallerDatabase,
  payment: Signed,
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

/** An authorization has a log of its own, which a node may find again within this time. */
const lostLogSeconds = 3_600n

/**
 * It is final that the signature was used, and no log can be told to be its own: booked in full, so
 * that nothing stays reserved for ever.
 */
async function settleSomewhere(
  world: World,
  db: CallerDatabase,
  payment: Signed,
): Promise<Watched> {
  const patience = permit2Of(payment.terms) ? 0n : endSecondsOf(payment) + lostLogSeconds
  if (BigInt(Math.floor(world.now().getTime() / 1000)) < patience) return untouched(payment)
  if (!(await isUsedForGood(world, payment))) return untouched(payment)
  const question = { payment: payment.id, logs: [], finality: 'finalized' }
  const booked = await db.one('housekeeping_settle', question, foundRow)
  return untouched(booked?.payment_row ?? payment)
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
 * A settlement that is shown no more: reorganized away, if another block stands there now, or never in
 * its block, if its signature was not used there.
 */
async function lookForReorg(world: World, db: CallerDatabase, payment: Signed): Promise<Watched> {
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
