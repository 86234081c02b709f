/**
 * Gets an open slot mined: the stored bytes are sent again, and where they stay behind the market, the
 * lane's next transaction does not move, or an account that they pay from was frozen, they are
 * replaced at the same nonce with higher fees and with what may leave still.
 */
import type { Chain } from '../chains/chain.ts'
import { broadcast } from '../chains/evm/broadcast.ts'
import type { World } from '../world.ts'
import type { LanesSeen } from './lanes.ts'
import type { Slot } from './slot.ts'

/** A lane's next transaction that is not mined for so long is replaced at a higher price. */
const stuckSeconds = 60

/**
 * Sends, replaces or gives up the place; true when the slot is no longer what it was. `isFirst`: no other
 * slot of the lane comes before it.
 */
export async function pushSlot(
  world: World,
  chain: Chain,
  slot: Slot & { isFirst: boolean },
  { states, relay }: LanesSeen,
): Promise<boolean> {
  const lane = states.get(slot.lane)
  if (!lane) return false
  const latest = slot.attempts.at(-1)
  const isNext = slot.isFirst && lane.minedNonce >= slot.nonce
  const isBehind = latest !== undefined && latest.max_fee_per_gas < BigInt(relay.maxFeePerGas) / 2n
  const isOld = latest !== undefined && latest.age_seconds >= stuckSeconds
  // Where an endpoint counts the place as taken, it may be that the transaction is not stuck at all.
  const isStuck = isOld && (lane.minedNonce <= slot.nonce || isBelow(latest, relay))
  if (!latest || latest.held || (isNext && (isBehind || isStuck))) {
    return replace(world, chain, slot, relay)
  }
  const outcome = await sendAgain(world, chain, latest)
  if (outcome === 'underpriced' || outcome === 'held') return replace(world, chain, slot, relay)
  if (outcome !== 'unfunded' || slot.kind === 'wallet' || slot.calls.length === 0) return false
  return requeue(world, slot, false)
}

/** Whether a new transaction would offer more, in either fee. */
function isBelow(latest: Slot['attempts'][number], relay: LanesSeen['relay']): boolean {
  const { max_fee_per_gas: fee, max_priority_fee_per_gas: tip } = latest
  return fee < BigInt(relay.maxFeePerGas) || tip < BigInt(relay.maxPriorityFeePerGas)
}

async function replace(
  world: World,
  chain: Chain,
  { slot, attempts }: Slot,
  { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei }: LanesSeen['relay'],
): Promise<boolean> {
  const fees = { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei }
  const signed = await world.custody?.replace({ slot, ...fees })
  const latest = attempts.at(-1)
  if (signed) await broadcast(world, chain, signed.raw)
  else if (latest) await sendAgain(world, chain, latest)
  return signed !== undefined
}

/** What endpoints said, or `held` where an account was frozen whose transfer the bytes carry. */
async function sendAgain(world: World, chain: Chain, { tx_hash, raw }: Slot['attempts'][number]) {
  if ((await world.db.call('housekeeping_may_send', { tx_hash })) !== true) return 'held'
  const { outcome } = await broadcast(world, chain, raw)
  return outcome
}

/** Gives its calls back: `lost` once another transaction holds the nonce. */
export async function requeue(world: World, { slot }: Slot, lost: boolean): Promise<boolean> {
  return (await world.db.call('housekeeping_requeue_slot', { slot, lost })) === true
}
