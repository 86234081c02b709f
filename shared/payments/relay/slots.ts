/**
 * Follows relayed transactions: books the block of each and what its logs show of each payment, sends again
 * what a node dropped, replaces what is stuck at the same nonce, and gives calls back whose slot is lost.
 * Never makes a second authorization.
 */
import type { Chain } from '../../chains/chain.ts'
import type { PlacedReceipt } from '../../chains/evm/proof.ts'
import { isBlockReplaced, readReceipts } from '../../chains/evm/proof.ts'
import type { World } from '../../world.ts'
import type { LanesSeen } from './lanes.ts'
import type { Slot } from './slot.ts'
import type { LookAt } from './slot-booking.ts'
import { bookSlot } from './slot-booking.ts'
import { pushSlot, requeue } from './slot-sending.ts'

/** Looks at slots of one chain, those of a lane in their order; returns which of them moved. */
export async function followSlots(
  world: World,
  chain: Chain,
  slots: readonly Slot[],
  seen: LanesSeen,
  lookAt: LookAt,
): Promise<boolean[]> {
  const receipts = await readSlots(world, chain, slots)
  const lanes = new Set(slots.map(({ lane }) => lane))
  const end = world.deadline(lookMilliseconds)
  // An endpoint that is slow for one lane must not hold up the others.
  const moves = await Promise.all(
    [...lanes].map(async (lane) => {
      const own = slots.filter((slot) => slot.lane === lane)
      return followLaneSlots(world, chain, own, { receipts, seen, lookAt, end })
    }),
  )
  return moves.flat()
}

/** Time limit of a look. What it gives back to the queue waits for its end, which an endpoint may delay. */
const lookMilliseconds = 25_000

type Known = {
  receipts: Map<Slot, PlacedReceipt | null>
  seen: LanesSeen
  lookAt: LookAt
  end: AbortSignal
}

async function followLaneSlots(
  world: World,
  chain: Chain,
  slots: readonly Slot[],
  { receipts, seen, lookAt, end }: Known,
): Promise<boolean[]> {
  const moves: boolean[] = []
  let isBehindOther = false
  for (const slot of slots) {
    const receipt = receipts.get(slot)
    // Its state is unknown or no time is left: the slot stays as it is.
    if (receipt === undefined || end.aborted) continue
    // One endpoint may hide that the slots before it are mined, while another counts them.
    const isFirst = !isBehindOther || seen.states.get(slot.lane)?.highestNonce === slot.nonce
    if (!receipt && !isPassed(slot, seen)) isBehindOther = true
    try {
      moves.push(
        receipt
          ? await bookSlot(world, slot, asFarAsSafe(slot, receipt, seen), lookAt)
          : await follow(world, chain, { ...slot, isFirst }, seen),
      )
    } catch (error) {
      // A slot that cannot be booked must not hold up the others.
      const log = error instanceof Error ? String(error.stack) : String(error)
      world.log({ operation: 'housekeeping', slot: slot.slot, log })
    }
  }
  return moves
}

/** A slot is final only where enough endpoints count its nonce: nothing looks at it again. */
function asFarAsSafe(slot: Slot, receipt: PlacedReceipt, { states }: LanesSeen): PlacedReceipt {
  const isSafe = (states.get(slot.lane)?.safeNonce ?? 0) > slot.nonce
  return isSafe || receipt.finality !== 'finalized' ? receipt : { ...receipt, finality: 'safe' }
}

/** Reads the receipt of each slot: null if none of its transactions has one, and no entry if that is unknown. */
async function readSlots(
  world: World,
  chain: Chain,
  slots: readonly Slot[],
): Promise<Map<Slot, PlacedReceipt | null>> {
  const hashes = slots.flatMap(({ attempts }) => attempts.map(({ tx_hash }) => tx_hash))
  const read = await readReceipts(world, chain, hashes)
  return new Map(
    slots.flatMap((slot): [Slot, PlacedReceipt | null][] => {
      const found = slot.attempts.map(({ tx_hash }) => read.get(tx_hash))
      const receipt = found.find((one) => one != null)
      const isKnown = found.every((one) => one !== undefined)
      return receipt || isKnown ? [[slot, receipt ?? null]] : []
    }),
  )
}

/** Follows a slot without a receipt: reorganized away, lost to a foreign transaction, or not yet mined. */
async function follow(
  world: World,
  chain: Chain,
  slot: Slot & { isFirst: boolean },
  seen: LanesSeen,
): Promise<boolean> {
  if (slot.state === 'open') {
    if (!isPassed(slot, seen)) return pushSlot(world, chain, slot, seen)
    // Before the nonce is safe, a missing receipt may come from a node that lags behind.
    const isSafe = (seen.states.get(slot.lane)?.safeNonce ?? 0) > slot.nonce
    return isSafe && requeue(world, slot, true)
  }
  const { block_number: number, block_hash: hash } = slot
  if (number === null || hash === null) return false
  // The receipt that one endpoint showed was false if none counts the nonce.
  const isUncounted = (seen.states.get(slot.lane)?.highestNonce ?? slot.nonce + 1) <= slot.nonce
  const isGone = isUncounted || (await isBlockReplaced(world, chain, { number, hash }))
  if (isGone !== true) return false
  const question = { slot: slot.slot, block_hash: hash }
  const isReopened = (await world.db.call('housekeeping_reopen_slot', question)) === true
  if (isReopened) await follow(world, chain, { ...slot, state: 'open' }, seen)
  return isReopened
}

/** True if enough endpoints count a mined transaction at its nonce, so that another one is of no use. */
function isPassed({ lane, nonce }: Slot, { states }: LanesSeen): boolean {
  return (states.get(lane)?.agreedNonce ?? 0) > nonce
}
