/**
 * Looks where a payment stands on the chain now, for whoever asks, and notes it. A note is what one endpoint
 * shows: nothing is freed, counted or ended by it. The books are written from final blocks (deposits/).
 */
import { unavailable } from '../../chains/evm/rpc/endpoints.ts'
import {
  isBlockReplaced,
  readBlockPosition,
  readUse,
  type Use,
  type UseQuestion,
} from '../../chains/evm/use.ts'
import type { Hex } from '../../chains/hex.ts'
import { assetOf } from '../../chains/registry.ts'
import { formOf } from '../../custody/payment-form.ts'
import { type CallerDatabase, unbound } from '../../db/database.ts'
import type { World } from '../../world.ts'
import { readSettlementHint } from '../../x402/delivery.ts'
import { foundRow, type Payment } from '../payment.ts'
import { deliveryRow } from './attempt-delivery.ts'

/** Payment after a look at the chain. */
export type Watched = {
  payment: Payment
  /** Number of blocks from the payment's own to the latest, or 0. */
  confirmations: number
}

/** Reads the chain once for this payment, and notes what it shows. */
export async function watchPayment(
  world: World,
  db: CallerDatabase,
  payment: Payment,
): Promise<Watched> {
  const { authorization_nonce: nonce, state, finality } = payment
  if (state === 'settled' && finality === 'finalized') return countConfirmations(world, payment)
  if (nonce === null) return untouched(payment)
  const shown = await readUse(world, questionOf(payment, nonce))
  if (shown === 'unused') return lookForReorg(world, db, payment)
  return 'transactionHash' in shown ? note(db, payment, shown) : untouched(payment)
}

/** Answer of the merchant, while it is stored, or the outcome of another request. */
export type Executed =
  | {
      outcome: 'delivered'
      payment: Payment & { authorization_nonce: Hex }
      stored: Promise<Payment>
    }
  | { outcome: 'done'; payment: Payment }

/** Looks for a purchase that its merchant answered, if its outcome is open. */
export async function watchOutcome(world: World, payment: Payment): Promise<Payment> {
  if (payment.state !== 'unknown') return payment
  return (await watchPayment(world, unbound(world.db), payment)).payment
}

/**
 * Looks where an executed purchase stands: while its merchant's answer is stored, or after another request paid it.
 * A look that fails is only logged, as it is repeated later.
 */
export async function watchExecuted(world: World, executed: Executed): Promise<Payment> {
  const logged = (payment: Payment) => (error: unknown) => {
    world.log({ attempt: payment.id, log: String(error) })
    return payment
  }
  const { payment } = executed
  if (executed.outcome === 'done') return watchOutcome(world, payment).catch(logged(payment))
  const looking = readUse(world, questionOf(payment, executed.payment.authorization_nonce))
  const [kept, shown] = await Promise.all([
    executed.stored,
    looking.catch((error: unknown) => unavailable(String(error))),
  ])
  if (kept.state !== 'unknown' || shown === 'unused') return kept
  if ('log' in shown) return logged(kept)(shown.log)
  return note(unbound(world.db), kept, shown).then((noted) => noted.payment, logged(kept))
}

const untouched = (payment: Payment): Watched => ({ payment, confirmations: 0 })

function questionOf(payment: Payment, nonce: Hex): UseQuestion {
  const { wallet: from, payee: to, amount_atomic: amountAtomic, authorized_block: since } = payment
  const asked = { ...assetOf(payment), from, to, amountAtomic }
  const { kind } = formOf(payment.terms)
  if (kind === 'permit2') return { ...asked, transaction: claimedIn(payment) }
  return { ...asked, nonce, since: since === null ? undefined : BigInt(since) }
}

/** Returns the transaction in which the merchant says that it was settled. */
function claimedIn({ delivery, tx_hash }: Payment): Hex | undefined {
  const read = deliveryRow.safeParse(delivery)
  const headers = read.success ? new Headers(read.data.headers) : undefined
  return (headers && readSettlementHint(headers)?.transaction) ?? tx_hash ?? undefined
}

async function countConfirmations(world: World, payment: Payment): Promise<Watched> {
  const { block_number: number, block_hash: hash } = payment
  if (number === null || hash === null) return untouched(payment)
  const place = await readBlockPosition(world, assetOf(payment).chain, { number, hash })
  return { ...untouched(payment), confirmations: place?.confirmations ?? 0 }
}

async function note(db: CallerDatabase, payment: Payment, shown: Use): Promise<Watched> {
  const { confirmations } = shown
  const finality = shown.finality === 'finalized' ? 'safe' : shown.finality
  const isSame =
    payment.state === 'settled' &&
    payment.finality === finality &&
    payment.block_hash === shown.blockHash
  if (isSame) return { payment, confirmations }
  const question = {
    payment: payment.id,
    tx_hash: shown.transactionHash,
    block_number: Number(shown.blockNumber),
    block_hash: shown.blockHash,
    log_index: shown.logIndex,
    finality,
    settled_atomic: shown.takenAtomic.toString(),
  }
  const noted = await db.one('housekeeping_note', question, foundRow)
  return { payment: noted?.payment_row ?? payment, confirmations }
}

/** Takes a note back if another block stands now where it said the payment was. */
async function lookForReorg(world: World, db: CallerDatabase, payment: Payment): Promise<Watched> {
  const { state, block_number: number, block_hash: hash } = payment
  if (state !== 'settled' || number === null || hash === null) return untouched(payment)
  const isGone = await isBlockReplaced(world, assetOf(payment).chain, { number, hash })
  if (isGone !== true) return untouched(payment)
  const question = { payment: payment.id, block_hash: hash }
  const reopened = await db.one('housekeeping_reorg', question, foundRow)
  return untouched(reopened?.payment_row ?? payment)
}
