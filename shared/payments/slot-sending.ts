/**
 * Gets an open slot mined: the stored bytes are sent again, and where they stay behind the market or
 * the lane's next transaction does not move, they are replaced at the same nonce with higher fees.
 */
import type { Chain } from '../chains/chain.ts'
import { broadcast } from '../chains/evm/broadcast.ts'
import { isDisplaced } from '../chains/evm/displaced.ts'
import type { World } from '../world.ts'
import type { LanesSeen } from './lanes.ts'
import type { Slot } from './slot.ts'

/** A lane's next transaction that is not mined for so long is replaced at a higher price. */
const stuckSeconds = 60

/** Sends, replaces or gives up the place; true when the slot is no longer what it was. */
export async function pushSlot(
  world: World,
  chain: Chain,
  slot: Slot,
  { states, relay }: LanesSeen,
): Promise<boolean> {
  const lane = states.get(slot.lane)
  if (!lane) return false
  // Before the safe block a missing receipt may be a node that lags behind.
  const passed = slot.kind === 'wallet' ? lane.finalizedNonce : lane.safeNonce
  if (passed > slot.nonce) return giveUp(world, chain, slot)
  const latest = slot.attempts.at(-1)
  const isNext = lane.minedNonce === slot.nonce
  const isBehind = latest !== undefined && latest.max_fee_per_gas < BigInt(relay.maxFeePerGas) / 2n
  const isStuck = latest !== undefined && latest.age_seconds >= stuckSeconds
  if (!latest || (isNext && (isBehind || isStuck))) return replace(world, chain, slot, relay)
  const { outcome } = await broadcast(world, chain, latest.raw)
  if (outcome === 'underpriced') return replace(world, chain, slot, relay)
  if (outcome !== 'unfunded' || slot.kind === 'wallet' || slot.calls.length === 0) return false
  return requeue(world, slot, false)
}

async function replace(
  world: World,
  chain: Chain,
  { slot, attempts }: Slot,
  { maxFeePerGas, maxPriorityFeePerGas }: LanesSeen['relay'],
): Promise<boolean> {
  const signed = await world.custody?.replace({ slot, maxFeePerGas, maxPriorityFeePerGas })
  const raw = signed?.raw ?? attempts.at(-1)?.raw
  if (raw) await broadcast(world, chain, raw)
  return signed !== undefined
}

/**
 * None of its transactions can be mined any more: another one holds the nonce. A wallet's own transfer
 * ends with this, so it waits until that is final and undisputed.
 */
async function giveUp(world: World, chain: Chain, slot: Slot): Promise<boolean> {
  const { lane: address, nonce, attempts } = slot
  const place = { address, nonce, hashes: attempts.map(({ tx_hash }) => tx_hash) }
  if (slot.kind === 'wallet' && !(await isDisplaced(world, chain, place))) return false
  return requeue(world, slot, true)
}

async function requeue(world: World, { slot }: Slot, lost: boolean): Promise<boolean> {
  return (await world.db.call('housekeeping_requeue_slot', { slot, lost })) === true
}
