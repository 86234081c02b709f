/** The twin of lanes, slots and the queue of signed calls. */
import type { Call, Lane, Payment, Slot, Twin } from './state.ts'

/** A lane that is held for one transaction. */
export type Claim = { lease: string; lane: string; nonce: number; calls: Call[] }

type Seen = { address: string; mined_nonce: number }

const laneSeconds = 5
const aheadMax = 16
const callsMax = 25

/** Calls that nobody holds and that can still settle, oldest first. */
function waitingCalls(twin: Twin): Call[] {
  return twin.calls.filter(
    (call) =>
      call.slot === null &&
      (call.claim === null || call.claimedUntil <= twin.now) &&
      call.payment.state === 'signed' &&
      (call.payment.validBefore ?? 0) > twin.now,
  )
}

const isHeld = (twin: Twin, lane: Lane) => lane.lease !== null && lane.leasedUntil > twin.now

function isFree(twin: Twin, lane: Lane): boolean {
  return lane.kind === 'relayer' && lane.pausedFor === null && !isHeld(twin, lane)
}

export function isRelayNeeded(twin: Twin): boolean {
  return waitingCalls(twin).length > 0 && twin.lanes.some((lane) => isFree(twin, lane))
}

/** Holds the lane that was unused for longest; of several never used, the one that the ledger took. */
export function claimLane(
  twin: Twin,
  seen: Seen[],
  withOwn: boolean,
  told: Claim | undefined,
): Claim | undefined {
  const waiting = waitingCalls(twin)
  if (!withOwn && waiting.length === 0) return undefined
  const able = twin.lanes.filter((lane) => {
    const look = seen.find(({ address }) => address === lane.address)
    return (
      look && isFree(twin, lane) && lane.next - Math.max(lane.mined, look.mined_nonce) < aheadMax
    )
  })
  const longest = Math.min(...able.map(({ used }) => used))
  const eligible = able.filter(({ used }) => used === longest)
  const lane = eligible.find(({ address }) => address === told?.lane) ?? eligible[0]
  if (!lane) return undefined
  const calls = waiting.slice(0, withOwn ? callsMax - 1 : callsMax)
  return hold(twin, lane, calls, told)
}

/** Holds the wallet itself, which sends its own transfer. */
export function claimWallet(
  twin: Twin,
  { account }: Payment,
  counted: number,
  told: Claim | undefined,
): Claim | undefined {
  let lane = twin.lanes.find(({ address }) => address === account.wallet)
  if (!lane) {
    lane = newLane('wallet', account.wallet, counted)
    twin.lanes.push(lane)
  }
  if (isHeld(twin, lane)) return undefined
  lane.next = Math.max(lane.next, counted)
  return hold(twin, lane, [], told)
}

export function newLane(kind: Lane['kind'], address: string, counted: number): Lane {
  const idle = { pausedFor: null, lease: null, leasedUntil: 0, used: 0 }
  return { address, kind, next: counted, mined: counted, ...idle }
}

function hold(twin: Twin, lane: Lane, calls: Call[], told: Claim | undefined): Claim {
  const lease = told?.lease ?? 'a lease that the ledger did not give'
  const until = twin.now + laneSeconds
  twin.uses += 1
  Object.assign(lane, { lease, leasedUntil: until })
  if (lane.kind === 'relayer') lane.used = twin.uses
  for (const call of calls) Object.assign(call, { claim: lease, claimedUntil: until })
  return { lease, lane: lane.address, nonce: lane.next, calls }
}

/** Stores a transaction in the place that is held for it, or gives everything back. */
export function fillSlot(twin: Twin, lease: string, count: number, hash: string): boolean {
  const lane = twin.lanes.find((one) => one.lease === lease)
  const calls = twin.calls.filter((call) => call.slot === null && call.claim === lease)
  if (lane) Object.assign(lane, { lease: null, leasedUntil: 0 })
  for (const call of calls) Object.assign(call, { claim: null, claimedUntil: 0 })
  if (!lane || calls.length !== count) return false
  const slot = newSlot(lane, lane.next, [{ hash, at: twin.now }])
  twin.slots.push(slot)
  lane.next += 1
  for (const call of calls) {
    call.slot = slot
    if (call.payment.state === 'signed') call.payment.txHash = hash
  }
  return true
}

function newSlot(lane: Lane, nonce: number, attempts: Slot['attempts']): Slot {
  return { id: null, lane, nonce, state: 'open', block: null, attempts }
}

export function callsOf(twin: Twin, slot: Slot): Call[] {
  return twin.calls.filter((call) => call.slot === slot)
}

/** Keeps a transaction in place of a slot's latest. */
export function replace(twin: Twin, slot: Slot, attempt: number, hash: string): boolean {
  if (slot.state !== 'open' || slot.attempts.length >= attempt) return false
  slot.attempts.push({ hash, at: twin.now })
  for (const { payment } of callsOf(twin, slot)) {
    if (payment.state === 'signed') payment.txHash = hash
  }
  return true
}

/** Nothing of a payment that is over stays in the queue. */
export function leaveQueue(twin: Twin, payment: Payment): void {
  twin.calls = twin.calls.filter((call) => call.payment !== payment || call.slot !== null)
}

/** Brings a lane's counter in line with the chain's and opens a place in every gap. */
export function repairLane(twin: Twin, lane: Lane, counted: number): boolean {
  if (isHeld(twin, lane)) return false
  const slots = twin.slots.filter((slot) => slot.lane === lane)
  const isEmpty = slots.every(({ nonce }) => nonce < counted)
  Object.assign(lane, { lease: null, leasedUntil: 0, mined: counted })
  if (lane.next < counted || isEmpty) lane.next = counted
  let changed = 0
  for (let nonce = counted; nonce < Math.min(lane.next, counted + aheadMax); nonce += 1) {
    const slot = slots.find((one) => one.nonce === nonce)
    if (slot && slot.state !== 'lost') continue
    if (slot) slot.state = 'open'
    else twin.slots.push(newSlot(lane, nonce, []))
    changed += 1
  }
  return changed > 0
}

export function pauseLane(lane: Lane, reason: string | null): boolean {
  const isChange = lane.pausedFor !== reason
  lane.pausedFor = reason
  return isChange
}

/** Whether the slots' own watch has the next word on a payment. */
export function isInSlot(twin: Twin, payment: Payment): boolean {
  return twin.calls.some(
    ({ payment: carried, slot }) =>
      carried === payment &&
      slot !== null &&
      ((slot.state === 'open' && (payment.validBefore ?? 0) > twin.now) ||
        (slot.state === 'mined' && slot.block?.hash === payment.place?.hash)),
  )
}
