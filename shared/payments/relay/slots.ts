/**
 * Follows relayed transactions: books the block of each and what its logs show of each payment, sends again
 * what a node dropped, replaces what is stuck at the same nonce, and gives calls back whose slot is lost.
 * Never makes a second authorization, and never books a failure without an anchor on chain.
 */
import type { Chain } from '../../chains/chain.ts'
import type { PlacedReceipt } from '../../chains/evm/proof.ts'
import { readReceipts } from '../../chains/evm/proof.ts'
import { agreedReceipts } from '../../chains/evm/quorum/agreed-receipts.ts'
import {
  areTransactionsGone,
  isBlockGone,
  isNonceTakenByOther,
} from '../../chains/evm/quorum/block-gone.ts'
import { rpcsFor } from '../../chains/evm/rpc/rpc.ts'
import type { Hex } from '../../chains/hex.ts'
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
          ? await bookSlot(world, slot, receipt, lookAt)
          : await follow(world, chain, { ...slot, isFirst }, seen, lookAt),
      )
    } catch (error) {
      // A slot that cannot be booked must not hold up the others.
      const log = error instanceof Error ? String(error.stack) : String(error)
      world.log({ operation: 'housekeeping', slot: slot.slot, log })
    }
  }
  return moves
}

/**
 * Reads the receipt of each slot: null if none of its transactions has one or endpoints contradict each
 * other, and no entry if that is unknown. Each is compared at every look: what one endpoint told while the
 * others were silent counts for no more than that.
 */
async function readSlots(
  world: World,
  chain: Chain,
  slots: readonly Slot[],
): Promise<Map<Slot, PlacedReceipt | null>> {
  const hashes = slots.flatMap(({ attempts }) => attempts.map(({ tx_hash }) => tx_hash))
  const read = await readReceipts(world, chain, hashes)
  const shown = slots.flatMap((slot) => {
    const receipt = slot.attempts.map(({ tx_hash }) => read.get(tx_hash)).find((one) => one != null)
    const isKnown = slot.attempts.every(({ tx_hash }: { tx_hash: Hex }) => read.has(tx_hash))
    return receipt || isKnown ? [{ slot, receipt: receipt ?? null }] : []
  })
  const told = shown.flatMap(({ receipt }) => receipt ?? [])
  const agreed = await agreedAmong(world, chain, told)
  return new Map(
    shown.map(({ slot, receipt }) => {
      return [slot, receipt && (agreed.get(receipt.transactionHash) ?? null)]
    }),
  )
}

/**
 * Returns the receipts that endpoints agree on. An endpoint that invents a receipt must not hide the one
 * that the others agree on.
 */
async function agreedAmong(
  world: World,
  chain: Chain,
  told: readonly PlacedReceipt[],
): Promise<Map<Hex, PlacedReceipt>> {
  const first = await agreedReceipts(world, chain, told)
  const contested = told.filter((one) => !isIn(first, one))
  const hashes = contested.map(({ transactionHash }) => transactionHash)
  const others = await readReceipts(world, chain, hashes, rpcsFor(world, chain).toReversed())
  const found = [...others.values()].filter((one) => one !== null)
  const second = await agreedReceipts(world, chain, found)
  return new Map([...first, ...second].map((one) => [one.transactionHash, one]))
}

function isIn(receipts: readonly PlacedReceipt[], { transactionHash }: PlacedReceipt): boolean {
  return receipts.some((one) => one.transactionHash === transactionHash)
}

/** Follows a slot without a receipt: reorganized away, lost to a foreign transaction, or not yet mined. */
async function follow(
  world: World,
  chain: Chain,
  slot: Slot & { isFirst: boolean },
  seen: LanesSeen,
  lookAt: LookAt,
): Promise<boolean> {
  if (slot.state === 'open') {
    if (!isPassed(slot, seen)) return pushSlot(world, chain, slot, seen)
    // Before the nonce is safe, a missing receipt may come from a node that lags behind.
    const isSafe = (seen.states.get(slot.lane)?.safeNonce ?? 0) > slot.nonce
    return isSafe && (await isNonceTakenByOther(world, chain, slot)) && requeue(world, slot, true)
  }
  return followMined(world, chain, slot, seen, lookAt)
}

/** Opens a mined slot again, for the same bytes, if its receipt is no longer shown or is contradicted. */
async function followMined(
  world: World,
  chain: Chain,
  slot: Slot & { isFirst: boolean },
  seen: LanesSeen,
  lookAt: LookAt,
): Promise<boolean> {
  const { block_number: number, block_hash: hash } = slot
  if (number === null || hash === null) return false
  const hashes = slot.attempts.map(({ tx_hash }) => tx_hash)
  const isReplaced = await isBlockGone(world, chain, { number, hash })
  const gone = await areTransactionsGone(world, chain, hashes, number)
  const isGone = isReplaced || gone.byEnough
  if (!isGone) {
    await lookAtBooked(slot, lookAt)
    // The word of one endpoint while the others were silent must not keep anything from being sent.
    if (!gone.byAny || isPassed(slot, seen)) return false
    tellOfDoubt(world, chain, slot, seen)
  }
  // If the receipt is only contradicted, its payments stay as they were just seen.
  const question = { slot: slot.slot, block_hash: hash, takes_back: isGone }
  const isReopened = (await world.db.call('housekeeping_reopen_slot', question)) === true
  if (isReopened) await follow(world, chain, { ...slot, state: 'open' }, seen, lookAt)
  return isReopened
}

/** Alerts if the lane's next transaction, by the count of enough endpoints, was shown as mined. */
function tellOfDoubt(world: World, { caip2 }: Chain, { lane, nonce }: Slot, seen: LanesSeen) {
  if (seen.states.get(lane)?.agreedNonce !== nonce) return
  world.log({ alarm: 'endpoints_disagree', chain: caip2, address: lane, nonce })
}

/** Looks at payments of a contradicted receipt: only what the chain itself shows stays booked. */
async function lookAtBooked(slot: Slot, lookAt: LookAt): Promise<void> {
  for (const payment of slot.payments) {
    const isBooked = payment.state === 'settled' && payment.block_hash === slot.block_hash
    if (isBooked) await lookAt(payment)
  }
}

/** True if enough endpoints count a mined transaction at its nonce, so that another one is of no use. */
function isPassed({ lane, nonce }: Slot, { states }: LanesSeen): boolean {
  return (states.get(lane)?.agreedNonce ?? 0) > nonce
}
