/**
 * Books what a slot's receipt shows. A payment is settled by the token's own logs; in a batch one may
 * be missing while the others are there, and a transaction's status says nothing about any of them.
 */
import { findTransfer, isCanceled } from '../chains/evm/logs.ts'
import type { PlacedReceipt } from '../chains/evm/proof.ts'
import { assetOf } from '../chains/registry.ts'
import type { World } from '../world.ts'
import type { Slot } from './slot.ts'

/** True when it changed what is known about the slot or one of its payments. */
export async function bookSlot(world: World, slot: Slot, receipt: PlacedReceipt): Promise<boolean> {
  if (isBooked(slot, receipt)) return false
  const settled = slot.calls.flatMap((call) => {
    const logIndex = call.kind === 'transfer' ? settledIn(call.payment, receipt) : undefined
    return logIndex === undefined ? [] : [{ payment: call.payment.id, log_index: Number(logIndex) }]
  })
  await world.db.call('housekeeping_book_slot', {
    slot: slot.slot,
    tx_hash: receipt.transactionHash,
    block_number: Number(receipt.blockNumber),
    block_hash: receipt.blockHash,
    finality: receipt.finality,
    settled,
  })
  if (receipt.finality === 'finalized') await release(world, slot, receipt)
  return true
}

function isBooked(slot: Slot, { blockHash, finality }: PlacedReceipt): boolean {
  const isPlaced = slot.state === 'mined' && slot.block_hash === blockHash
  const isLabelled = ({ payment }: Slot['calls'][number]) =>
    payment.state !== 'settled' || payment.finality === finality
  return isPlaced && finality !== 'finalized' && slot.calls.every(isLabelled)
}

type SlotPayment = Slot['calls'][number]['payment']

function settledIn(payment: SlotPayment, receipt: PlacedReceipt): bigint | undefined {
  if (receipt.status !== 1n) return undefined
  const { wallet: from, payee: to, amount_atomic: value, authorization_nonce: nonce } = payment
  const expected = { from, to, value, ...(nonce === null ? {} : { authorizationNonce: nonce }) }
  return findTransfer(receipt.logs, assetOf(payment).token, expected)
}

/** What can no longer settle as of a finalized block: a wallet's own transaction that reverted, and
 * an authorization that was cancelled. */
async function release(world: World, slot: Slot, receipt: PlacedReceipt): Promise<void> {
  for (const { kind, payment } of slot.calls) {
    const nonce = payment.authorization_nonce
    const { token } = assetOf(payment)
    if (slot.kind === 'wallet' && receipt.status !== 1n) {
      await end(world, payment.id, 'failed', 'the transaction reverted')
    }
    if (kind !== 'cancel' || nonce === null) continue
    if (isCanceled(receipt.logs, token, payment.wallet, nonce)) {
      await end(world, payment.id, 'released', 'the authorization was cancelled')
    }
  }
}

async function end(world: World, payment: string, state: string, reason: string): Promise<void> {
  await world.db.call('housekeeping_release', { payment, state, reason })
}
