/** The steps of housekeeping as separate operations, so that anything can come in between. */

import { countOf } from './chain.ts'
import { dispatch, replaceSlot } from './custody-work.ts'
import { answers } from './delivery.ts'
import type { Dice } from './dice.ts'
import { cancelFrozen } from './freezing.ts'
import { openWei } from './gas.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, isTold, pickSlot } from './house.ts'
import { refusal } from './mandate-wire.ts'
import { isStopped, pauseLane, repairLane } from './relay.ts'
import { finishAttempt } from './settlement.ts'
import type { Lane, Payment } from './state.ts'
import { isLive } from './state.ts'
import type { Step } from './watch-payments.ts'
import { judgePayment, listOpen, release, settle } from './watch-payments.ts'
import { giveBack, judgeSlot, listSlots } from './watch-slots.ts'
import { byAddress, paymentWire } from './wire.ts'

/** Runs a step now, later or never. */
async function sooner(house: House, dice: Dice, name: string, step: Step): Promise<void> {
  if (!step) return
  if (dice.isLucky(75)) return step()
  if (dice.isLucky(85)) house.works.push({ name, finish: step })
}

async function watchPayment(house: House, dice: Dice): Promise<void> {
  const open = house.twin.payments.filter((one) => isLive(one) || one.state === 'settled')
  const payment = dice.anyOf(open.slice(-8))
  if (payment) await sooner(house, dice, 'watch', judgePayment(house, payment))
}

/** Tries to book an outcome that does not follow from the state of a payment, which must change nothing. */
async function bookInVain(house: House, dice: Dice): Promise<void> {
  const over = house.twin.payments.filter(({ state }) => state !== 'signed' && state !== 'unknown')
  const payment = dice.anyOf(over.slice(-8))
  if (!payment) return
  if (payment.state === 'settled') return release(house, payment, 'a mistake')
  const hash = `0x${'e'.repeat(64)}`
  await settle(house, payment, { hash, block: 1, blockHash: hash, log: 0, finality: 'included' })
}

async function watchSlot(house: House, dice: Dice): Promise<void> {
  const slot = pickSlot(house, dice)
  if (slot) await sooner(house, dice, 'slot', judgeSlot(house, slot))
}

/** Returns the calls of an unfunded relayer to the queue, while its slot stays open. */
async function giveBackUnfunded(house: House, dice: Dice): Promise<void> {
  const slot = pickSlot(house, dice)
  const isLaden = house.twin.calls.some((call) => call.slot === slot)
  if (slot?.lane.kind === 'relayer' && isLaden) await giveBack(house, slot, false)
}

async function repair(house: House, lane: Lane, counted: number, highest = counted): Promise<void> {
  const { chain } = house.twin
  const question = { chain, address: lane.address, counted, highest }
  const answer = await ask(house, 'housekeeping_repair_lane', question)
  const isChanged = repairLane(house.twin, lane, counted, highest)
  agree('housekeeping_repair_lane', answer, [{ housekeeping_repair_lane: isChanged }])
}

async function repairOne(house: House, dice: Dice): Promise<void> {
  const lane = dice.anyOf(house.twin.lanes)
  if (!lane) return
  const counted = countOf(house.chain, lane.address)
  // One endpoint may show a higher count than a sufficient number of endpoints.
  const highest = counted + (dice.isLucky(80) ? 0 : dice.below(40))
  await sooner(house, dice, 'repair', () => repair(house, lane, counted, highest))
}

async function pauseOne(house: House, dice: Dice): Promise<void> {
  const lane = dice.anyOf(house.twin.lanes.filter(({ kind }) => kind === 'relayer'))
  if (lane) await pause(house, lane, dice.isLucky(45) ? 'unfunded' : null)
}

async function pause(house: House, lane: Lane, reason: string | null): Promise<void> {
  const { chain } = house.twin
  const question = { chain, address: lane.address, reason }
  const answer = await ask(house, 'housekeeping_pause_lane', question)
  const isChanged = pauseLane(lane, reason)
  agree('housekeeping_pause_lane', answer, [{ housekeeping_pause_lane: isChanged }])
}

async function listLanes(house: House): Promise<void> {
  const { twin } = house
  const answer = await ask(house, 'housekeeping_lanes', {})
  const wanted = twin.lanes
    .filter(({ kind, next, mined }) => kind === 'relayer' || next > mined)
    .map((lane) => {
      const { address, kind, next, mined, pausedFor } = lane
      const counters = {
        next_nonce: next,
        mined_nonce: mined,
        open_wei: openWei(twin, lane),
        left_wei: null,
      }
      return { chain: twin.chain, address, kind, ...counters, paused_for: pausedFor }
    })
  agree('housekeeping_lanes', answer, wanted.sort(byAddress))
}

/** Ends an x402 delivery. */
async function finishDelivery(house: House, dice: Dice): Promise<void> {
  const open = house.twin.payments.filter((one) => one.kind === 'x402' && isLive(one))
  const payment = dice.anyOf(open)
  if (!payment) return
  const delivery = dice.oneOf([answers.whole, answers.whole, answers.beginning, refusal])
  await sooner(house, dice, 'finish', () => finish(house, payment, delivery))
}

async function finish(house: House, payment: Payment, delivery: object) {
  const question = { payment: payment.id, delivery }
  const answer = await ask(house, 'housekeeping_finish_attempt', question)
  const finished = finishAttempt(house.twin, payment, delivery)
  const wanted = finished ? [{ payment_row: paymentWire(house.twin, finished) }] : []
  agree('housekeeping_finish_attempt', answer, wanted)
}

/** Runs all of housekeeping in the order of the scheduled function, without interruption. */
export async function keepModelHouse(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  await cancelFrozen(house, dice)
  for (const lane of twin.lanes) {
    await repair(house, lane, countOf(house.chain, lane.address))
    if (lane.kind === 'relayer') await pause(house, lane, null)
  }
  await listSlots(house)
  for (const slot of twin.slots.filter(isTold)) {
    if (slot.state !== 'open' && slot.state !== 'mined') continue
    const step = judgeSlot(house, slot)
    if (step) await step()
    if (slot.state !== 'open') continue
    const latest = slot.attempts.at(-1)
    if (latest && !isStopped(latest)) await dispatch(house, latest.hash)
    else await replaceSlot(house, dice, slot)
  }
  for (const payment of await listOpen(house)) {
    const step = judgePayment(house, payment)
    if (step) await step()
  }
}

export const housekeepingOperations: readonly Operation[] = [
  { name: 'watch payment', weight: 8, run: watchPayment },
  { name: 'book in vain', weight: 2, run: bookInVain },
  { name: 'watch slot', weight: 10, run: watchSlot },
  { name: 'list slots', weight: 5, run: listSlots },
  { name: 'list open', weight: 4, run: async (house) => void (await listOpen(house)) },
  { name: 'give back', weight: 1, run: giveBackUnfunded },
  { name: 'repair lane', weight: 4, run: repairOne },
  { name: 'pause lane', weight: 3, run: pauseOne },
  { name: 'list lanes', weight: 1, run: listLanes },
  { name: 'finish delivery', weight: 4, run: finishDelivery },
]
