/**
 * Looks at the chain and books what it shows. A payment ends only by an anchor on chain: a log in a
 * block, or an authorization that expired unused at a finalized block. Whatever else is seen leaves
 * it as it is, with its reservation.
 */
import { isBlockReplaced } from '../chains/evm/proof.ts'
import { assetOf } from '../chains/registry.ts'
import type { CallerDatabase } from '../db/database.ts'
import type { World } from '../world.ts'
import type { Settled } from './fate.ts'
import { endOf, fateOf, isBlind, prove, settlementOf } from './fate.ts'
import type { Payment } from './payment.ts'
import { foundRow } from './payment.ts'

type Hash = NonNullable<Payment['tx_hash']>

/** A payment after a look at the chain. */
export type Watched = {
  payment: Payment
  /** Blocks from the payment's own to the latest, or 0. */
  confirmations: number
}

/** Reads the chain once for this payment; `hint` is a hash that somebody claims. */
export async function watchPayment(
  world: World,
  db: CallerDatabase,
  payment: Payment,
  hint: Hash | null = payment.tx_hash,
): Promise<Watched> {
  const proof = hint === null || isBlind(payment) ? undefined : await prove(world, payment, hint)
  if (proof?.status === 'settled') return settle(db, payment, proof)
  if (proof?.status === 'unavailable') return { payment, confirmations: 0 }
  if (payment.state === 'settled') return lookForReorg(world, db, payment)
  if (payment.authorization_nonce !== null) return traceAuthorization(world, db, payment)
  const isOver = proof?.status === 'reverted' && proof.finality === 'finalized'
  return isOver
    ? release(db, payment, 'failed', 'the transaction reverted')
    : { payment, confirmations: 0 }
}

async function traceAuthorization(
  world: World,
  db: CallerDatabase,
  payment: Payment,
): Promise<Watched> {
  const nonce = payment.authorization_nonce
  if (nonce === null) return { payment, confirmations: 0 }
  const fate = await fateOf(world, payment, nonce)
  if (fate.status === 'used') {
    const proof = await prove(world, fate.payment, fate.transactionHash)
    if (proof.status === 'settled') return settle(db, fate.payment, proof)
  }
  if (fate.status === 'canceled') return endCanceled(world, db, payment, fate.transactionHash)
  const hasExpired =
    fate.status === 'unused' &&
    fate.finalizedTimestampSeconds !== undefined &&
    fate.finalizedTimestampSeconds >= endOf(payment)
  if (hasExpired) return release(db, payment, 'released', 'the authorization expired unused')
  return { payment, confirmations: 0 }
}

/** A cancellation ends the payment once its block can no longer be undone. */
async function endCanceled(world: World, db: CallerDatabase, payment: Payment, hash: Hash) {
  const ended = await prove(world, payment, hash)
  const isFinal = ended.status === 'unmatched' && ended.finality === 'finalized'
  return isFinal
    ? release(db, payment, 'released', 'the authorization was cancelled')
    : { payment, confirmations: 0 }
}

async function settle(db: CallerDatabase, payment: Payment, proof: Settled): Promise<Watched> {
  const isSame =
    payment.state === 'settled' &&
    payment.finality === proof.finality &&
    payment.block_hash === proof.blockHash
  if (isSame) return { payment, confirmations: proof.confirmations }
  const booked = await db.one('housekeeping_settle', settlementOf(payment, proof), foundRow)
  return { payment: booked?.payment_row ?? payment, confirmations: proof.confirmations }
}

/** A settled payment whose receipt is gone: reorganized away, if another block stands there now. */
async function lookForReorg(world: World, db: CallerDatabase, payment: Payment): Promise<Watched> {
  const { block_number: number, block_hash: hash } = payment
  const untouched = { payment, confirmations: 0 }
  if (number === null || hash === null) return untouched
  if (!(await isBlockReplaced(world, assetOf(payment).chain, { number, hash }))) return untouched
  const question = { payment: payment.id, block_hash: hash }
  const reopened = await db.one('housekeeping_reorg', question, foundRow)
  return { payment: reopened?.payment_row ?? payment, confirmations: 0 }
}

async function release(
  db: CallerDatabase,
  payment: Payment,
  state: 'failed' | 'released',
  reason: string,
): Promise<Watched> {
  const question = { payment: payment.id, state, reason }
  const ended = await db.one('housekeeping_release', question, foundRow)
  return { payment: ended?.payment_row ?? payment, confirmations: 0 }
}
