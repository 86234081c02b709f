/**
 * Books what a slot's receipt shows. A payment is settled by the token's own logs: in a batch one may be
 * missing while the others are there, and a transaction's status says nothing about any of them. watch.ts
 * finds out how a missing payment ends.
 */

import type { PlacedReceipt } from '../../chains/evm/proof.ts'
import { findTransfer } from '../../chains/evm/rpc/logs.ts'
import { assetOf } from '../../chains/registry.ts'
import type { World } from '../../world.ts'
import type { Slot } from './slot.ts'

/** Function that notes another transaction that paid it; true if none did. */
export type LookAt = (payment: SlotPayment) => Promise<boolean>

/** Books a receipt; false if everything in it is booked already. */
export async function bookSlot(
  world: World,
  slot: Slot,
  receipt: PlacedReceipt,
  lookAt: LookAt,
): Promise<boolean> {
  const settled = slot.payments.flatMap((payment) => {
    const logIndex = settledIn(payment, receipt)
    return logIndex === undefined ? [] : [{ payment: payment.id, log_index: Number(logIndex) }]
  })
  // A transfer that is missing may be in another transaction: the token lets an authorization through once,
  // whoever brings it.
  const absent = slot.payments.filter(({ id }) => !settled.some(({ payment }) => payment === id))
  const isWrong = absent.some((payment) => isBookedIn(payment, receipt))
  if (isBooked(slot, receipt) && !isWrong) return false
  const missing = absent.filter((payment) => {
    return payment.state === 'signed' || isBookedIn(payment, receipt)
  })
  const unpaid: string[] = []
  for (const payment of missing) {
    if (await lookAt(payment)) unpaid.push(payment.id)
  }
  await world.db.call('housekeeping_book_slot', {
    slot: slot.slot,
    tx_hash: receipt.transactionHash,
    block_number: Number(receipt.blockNumber),
    block_hash: receipt.blockHash,
    finality: receipt.finality,
    settled,
    unpaid,
  })
  return true
}

function isBooked(slot: Slot, { blockHash, finality }: PlacedReceipt): boolean {
  const isPlaced = slot.state === 'mined' && slot.block_hash === blockHash
  const isLabelled = (payment: SlotPayment) =>
    payment.state !== 'settled' || payment.finality === finality
  return isPlaced && finality !== 'finalized' && slot.payments.every(isLabelled)
}

/** True if a payment is booked as settled in a receipt's block. */
function isBookedIn({ state, block_hash }: SlotPayment, { blockHash }: PlacedReceipt): boolean {
  return state === 'settled' && block_hash === blockHash
}

/** Payment that a slot carries. */
export type SlotPayment = Slot['payments'][number]

function settledIn(payment: SlotPayment, receipt: PlacedReceipt): bigint | undefined {
  const { wallet: from, payee: to, amount_atomic: value, authorization_nonce: nonce } = payment
  if (receipt.status !== 1n || nonce === null) return undefined
  const expected = { from, to, value, authorizationNonce: nonce }
  return findTransfer(receipt.logs, assetOf(payment).token, expected)
}
