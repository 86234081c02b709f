/**
 * Follows relayed transactions: books the block that one stands in and what its logs show of each
 * payment, sends again what a node dropped, replaces what is stuck at the same nonce, and gives calls
 * back whose place is lost. Never a second authorization, and never a failure without an anchor.
 */
import type { Chain } from '../chains/chain.ts'
import { isBlockGone } from '../chains/evm/block-gone.ts'
import { readReceipts } from '../chains/evm/proof.ts'
import type { World } from '../world.ts'
import type { LanesSeen } from './lanes.ts'
import type { Slot } from './slot.ts'
import type { LookAt } from './slot-booking.ts'
import { bookSlot } from './slot-booking.ts'
import { pushSlot } from './slot-sending.ts'

/** Looks at slots of one chain, those of a lane in their order; answers which of them moved. */
export async function keepSlots(
  world: World,
  chain: Chain,
  slots: readonly Slot[],
  seen: LanesSeen,
  lookAt: LookAt,
): Promise<boolean[]> {
  const hashes = slots.flatMap(({ attempts }) => attempts.map(({ tx_hash }) => tx_hash))
  const found = await readReceipts(world, chain, hashes)
  if (found.status !== 'ok') return []
  const moves: boolean[] = []
  for (const slot of slots) {
    const receipt = slot.attempts
      .map(({ tx_hash }) => found.receipts.get(tx_hash))
      .find((one) => one !== undefined)
    moves.push(
      receipt
        ? await bookSlot(world, slot, receipt, lookAt)
        : await follow(world, chain, slot, seen),
    )
  }
  return moves
}

/** Nowhere on chain: reorganized away, lost to a foreign transaction, or still to be mined. */
async function follow(world: World, chain: Chain, slot: Slot, seen: LanesSeen): Promise<boolean> {
  if (slot.state === 'open') return pushSlot(world, chain, slot, seen)
  const { block_number: number, block_hash: hash } = slot
  if (number === null || hash === null) return false
  if (!(await isBlockGone(world, chain, { number, hash }))) return false
  const isReopened = await world.db.call('housekeeping_reopen_slot', {
    slot: slot.slot,
    block_hash: hash,
  })
  if (isReopened === true) await pushSlot(world, chain, { ...slot, state: 'open' }, seen)
  return isReopened === true
}
