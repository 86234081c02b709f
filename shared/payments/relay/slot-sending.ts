/**
 * Gets an open slot mined: sends the stored bytes again or replaces them, at the same nonce, with higher
 * fees and the calls that may still leave. It replaces a transaction that stays behind the market, that is
 * the lane's next and does not move, or that pays from an account that was frozen.
 */
import type { Chain } from '../../chains/chain.ts'
import { broadcast } from '../../chains/evm/rpc/broadcast.ts'
import type { SignedTransaction } from '../../custody/port.ts'
import type { World } from '../../world.ts'
import type { LanesSeen } from './lanes.ts'
import type { Slot } from './slot.ts'

/** Seconds after which a lane's next transaction that is not mined is replaced at a higher price. */
const stuckSeconds = 60

/**
 * Sends, replaces or gives up the slot; true if the slot changed. `isFirst` is true if no other slot of the
 * lane comes before it.
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
  const isNext = slot.isFirst && lane.highestNonce >= slot.nonce
  const isBehind = latest !== undefined && latest.max_fee_per_gas < BigInt(relay.maxFeePerGas) / 2n
  const isOld = latest !== undefined && latest.age_seconds >= stuckSeconds
  // If an endpoint counts the nonce as used, the transaction may not be stuck at all.
  const isStuck = isOld && (lane.highestNonce <= slot.nonce || isBelow(latest, relay))
  if (!latest || latest.held || (isNext && (isBehind || isStuck))) {
    return replace(world, chain, slot, relay)
  }
  const outcome = await sendAgain(world, chain, { hash: latest.tx_hash, raw: latest.raw })
  if (outcome === 'underpriced' || outcome === 'held') return replace(world, chain, slot, relay)
  if (outcome !== 'unfunded' || slot.kind === 'wallet' || slot.payments.length === 0) return false
  return requeue(world, slot, false)
}

/** True if a new transaction would offer more, in either fee. */
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
  else if (latest) await sendAgain(world, chain, { hash: latest.tx_hash, raw: latest.raw })
  return signed !== undefined
}

/** Sends a transaction again; returns what endpoints said, or `held` if a freeze has stopped a transfer in it. */
async function sendAgain(world: World, chain: Chain, { hash, raw }: SignedTransaction) {
  if ((await world.db.call('housekeeping_may_resend', { tx_hash: hash })) !== true) return 'held'
  const { outcome } = await broadcast(world, chain, raw)
  return outcome
}

/** Gives its calls back to the queue. `lost` is true once another transaction holds the nonce. */
export async function requeue(world: World, { slot }: Slot, lost: boolean): Promise<boolean> {
  return (await world.db.call('housekeeping_requeue_slot', { slot, lost })) === true
}
