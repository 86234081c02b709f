/** The watch over slots of lanes: what a look at the chain shows, and how it is booked. */
import { countOf, finalityOf, placeOf, safeOf } from './chain.ts'
import type { House } from './house.ts'
import { agree, ask } from './house.ts'
import { rowsOf } from './ledger.ts'
import { callsOf, isStopped, transfersIn } from './relay.ts'
import * as settlement from './settlement.ts'
import type { Payment, Slot } from './state.ts'
import type { Step } from './watch-payments.ts'

/** Returns the booking for a slot that the chain shows now. */
export function judgeSlot(house: House, slot: Slot): Step {
  const { chain, twin } = house
  const places = slot.attempts.map(({ hash }) => placeOf(chain, hash))
  const stands = places.find((place) => place !== undefined)
  const carried = transfersIn(callsOf(twin, slot))
  if (stands) {
    const receipt = receiptOf(house, stands)
    return () => book(house, slot, receipt, carried)
  }
  if (slot.state === 'mined') {
    const { block } = slot
    const isGone = block && chain.blocks[block.number]?.hash !== block.hash
    return isGone ? () => reopen(house, slot, block.hash) : undefined
  }
  const counted = countOf(chain, slot.lane.address, safeOf(chain))
  const isPassed = slot.state === 'open' && counted > slot.nonce
  return isPassed ? () => giveBack(house, slot, true) : undefined
}

/** Returns a receipt as it is now; its block may be gone, or final, later. */
function receiptOf({ chain }: House, { block, mined }: NonNullable<ReturnType<typeof placeOf>>) {
  const finality = finalityOf(chain, block.number)
  const place = { hash: mined.hash, block: block.number, blockHash: block.hash, finality }
  return { ...place, paid: mined.paid }
}

async function book(
  house: House,
  slot: Slot,
  { paid, ...proof }: ReturnType<typeof receiptOf>,
  carried: Payment[],
): Promise<void> {
  const settled = paid.filter(({ payment }) => carried.includes(payment))
  const answer = await ask(house, 'housekeeping_book_slot', {
    slot: slot.id,
    tx_hash: proof.hash,
    block_number: proof.block,
    block_hash: proof.blockHash,
    finality: proof.finality,
    settled: settled.map(({ payment, log }) => ({ payment: payment.id, log_index: log })),
  })
  const isBooked = settlement.bookSlot(house.twin, slot, proof, settled)
  agree('housekeeping_book_slot', answer, [{ housekeeping_book_slot: isBooked }])
}

async function reopen(house: House, slot: Slot, gone: string): Promise<void> {
  const question = { slot: slot.id, block_hash: gone }
  const answer = await ask(house, 'housekeeping_reopen_slot', question)
  const isReopened = settlement.reopenSlot(house.twin, slot, gone)
  agree('housekeeping_reopen_slot', answer, [{ housekeeping_reopen_slot: isReopened }])
}

export async function giveBack(house: House, slot: Slot, lost: boolean): Promise<void> {
  const answer = await ask(house, 'housekeeping_requeue_slot', { slot: slot.id, lost })
  const isGiven = settlement.requeue(house.twin, slot, lost)
  agree('housekeeping_requeue_slot', answer, [{ housekeeping_requeue_slot: isGiven }])
}

/** Reads the slots that are watched and their ids. */
export async function listSlots(house: House): Promise<void> {
  const answer = await ask(house, 'housekeeping_slots', { batch: 1000 })
  const rows = Array.isArray(answer) ? answer : []
  const watched = house.twin.slots.filter(({ state }) => state === 'open' || state === 'mined')
  const name = (...parts: unknown[]) => parts.map(String).join(' ')
  for (const row of rows) {
    const slot = watched.find(
      ({ lane, nonce }) => lane.address === row['lane'] && nonce === row['nonce'],
    )
    if (slot) slot.id = Number(row['slot'])
  }
  agree(
    'housekeeping_slots',
    rows
      .map(({ lane, kind, nonce, state, attempts }) => {
        const held = rowsOf(attempts).map((one) => one['held'])
        return name(lane, kind, nonce, state, ...held)
      })
      .sort(),
    watched
      .map(({ lane, nonce, state, attempts }) =>
        name(lane.address, lane.kind, nonce, state, ...attempts.map(isStopped)),
      )
      .sort(),
  )
}
