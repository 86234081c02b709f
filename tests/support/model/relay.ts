/** The twin of lanes, slots and the queue of signed calls. */
import { hasGas, hasGasFor, raiseGas, spendGas } from './gas.ts'
import type { Attempt, Call, Lane, Payment, Slot, Twin } from './state.ts'
import { liveUntil } from './state.ts'

/** A lane that is leased for one transaction. */
export type Claim = { lease: string; lane: string; nonce: number; calls: Call[] }

export type Seen = { address: string; mined_nonce: number; transfers: number; cancels: number }

const laneSeconds = 5
const aheadMax = 16
const transfersAheadMax = 14
const callsMax = 25

/** True if the account was frozen after the payment was authorized. */
export const isGivenUp = ({ account, freezes }: Payment) => freezes < account.freezes

/** Decides whether a call still has an effect and is not a transfer that a freeze has stopped. */
export function mayLeave(twin: Twin, { kind, payment }: Call): boolean {
  if (kind === 'cancel') return liveUntil(payment) > twin.now
  const isGood = (payment.validBefore ?? 0) > twin.now
  return isGood && payment.state === 'signed' && !isGivenUp(payment)
}

/** True if a transaction must not be sent any more. */
export const isStopped = ({ carries }: Attempt) => carries.some(isGivenUp)

/** Returns unclaimed calls that may be sent: cancellations first, then by turn. */
function waitingCalls(twin: Twin): Call[] {
  const waiting = twin.calls.filter(
    (call) =>
      call.slot === null &&
      isUnclaimed(twin, call) &&
      mayLeave(twin, call) &&
      (call.kind === 'cancel' || hasGas(twin, call.payment)),
  )
  const ofKind = (kind: Call['kind']) =>
    waiting.filter((call) => call.kind === kind).sort((one, other) => one.turn - other.turn)
  return [...ofKind('cancel'), ...ofKind('transfer')]
}

const isUnclaimed = (twin: Twin, { claim, claimedUntil }: Call) =>
  claim === null || claimedUntil <= twin.now

const isHeld = (twin: Twin, lane: Lane) => lane.lease !== null && lane.leasedUntil > twin.now

function isFree(twin: Twin, lane: Lane): boolean {
  return lane.kind === 'relayer' && lane.pausedFor === null && !isHeld(twin, lane)
}

export function isRelayNeeded(twin: Twin): boolean {
  return waitingCalls(twin).length > 0 && twin.lanes.some((lane) => isFree(twin, lane))
}

/** Leases the lane that was unused for longest; among lanes never used, the one that the ledger took. */
export function claimLane(
  twin: Twin,
  seen: Seen[],
  withOwn: boolean,
  told: Claim | undefined,
): Claim | undefined {
  const waiting = waitingCalls(twin)
  if (!withOwn && waiting.length === 0) return undefined
  const needs = withOwn ? 'transfer' : waiting[0]?.kind
  const able = twin.lanes.filter((lane) => {
    const { transfers, cancels, ahead } = roomOf(lane, seen)
    const isAble = needs === 'transfer' ? transfers > 0 : cancels > 0 && ahead < aheadMax
    return isFree(twin, lane) && isAble
  })
  const longest = Math.min(...able.map(({ used }) => used))
  const eligible = able.filter(({ used }) => used === longest)
  const lane = eligible.find(({ address }) => address === told?.lane) ?? eligible[0]
  if (!lane) return undefined
  const own = withOwn ? 1 : 0
  const { transfers, cancels } = roomOf(lane, seen)
  const taken = [
    ...waiting.filter(({ kind }) => kind === 'cancel').slice(0, cancels),
    ...waiting.filter(({ kind }) => kind === 'transfer').slice(0, Math.max(transfers - own, 0)),
  ].slice(0, callsMax - own)
  const calls = twin.calls.filter((call) => taken.includes(call))
  return hold(twin, lane, calls, told)
}

/** Returns how many more calls a lane can take; its last slots are for cancellations. */
function roomOf(lane: Lane, seen: Seen[]) {
  const look = seen.find(({ address }) => address === lane.address)
  if (!look) return { transfers: 0, cancels: 0, ahead: 0 }
  const ahead = lane.next - Math.max(lane.mined, look.mined_nonce)
  return { ...look, transfers: ahead < transfersAheadMax ? look.transfers : 0, ahead }
}

/** Returns the highest total cost of a wallet's open transactions, each at least `cost`, plus `cost`. */
export function gasNeeded(twin: Twin, wallet: string, cost: bigint): bigint {
  const dearest = inFlight(twin, wallet).map(({ attempts }) =>
    attempts.reduce((most, one) => (one.cost > most ? one.cost : most), cost),
  )
  return dearest.reduce((sum, one) => sum + one, cost)
}

/** True if a wallet has as many transactions in flight as it may. */
export const isFull = (twin: Twin, wallet: string): boolean =>
  inFlight(twin, wallet).length >= aheadMax

const inFlight = ({ slots }: Twin, wallet: string) =>
  slots.filter(
    ({ lane, nonce, state }) => lane.address === wallet && state === 'open' && nonce >= lane.mined,
  )

/** Leases the wallet's own lane, in which it sends its own transfer. */
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
  if (isHeld(twin, lane) || lane.pausedFor !== null) return undefined
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

/** Stores a transaction in the slot that its lease holds, or gives lane and calls back. */
export function fillSlot(
  twin: Twin,
  lease: string,
  count: number,
  { hash, cost }: Pick<Attempt, 'hash' | 'cost'>,
): boolean {
  const lane = twin.lanes.find((one) => one.lease === lease)
  const calls = twin.calls.filter((call) => call.slot === null && call.claim === lease)
  if (lane) Object.assign(lane, { lease: null, leasedUntil: 0 })
  for (const call of calls) Object.assign(call, { claim: null, claimedUntil: 0 })
  if (!lane || calls.length !== count) return false
  const carries = transfersIn(calls)
  const slot = newSlot(lane, lane.next, [{ hash, cost, carries, cancels: cancelsIn(calls) }])
  twin.slots.push(slot)
  lane.next += 1
  for (const call of calls) Object.assign(call, { slot, tries: call.tries + 1 })
  spendGas(twin, slot, calls, cost)
  for (const payment of carries) {
    if (payment.state === 'signed') Object.assign(payment, { txHash: hash, finality: 'submitted' })
  }
  return true
}

function newSlot(lane: Lane, nonce: number, attempts: Slot['attempts']): Slot {
  return { id: null, lane, nonce, state: 'open', block: null, attempts }
}

/** Returns a new call with a turn after its account's calls, and not before the first of the others. */
export function newCall(twin: Twin, kind: Call['kind'], payment: Payment, signature: string): Call {
  const queued = twin.calls.filter((call) => call.kind === kind && call.slot === null)
  const others = queued.filter((call) => isUnclaimed(twin, call) && mayLeave(twin, call))
  const own = queued.filter((call) => call.payment.account === payment.account)
  const first = others.length === 0 ? 0 : Math.min(...others.map(({ turn }) => turn))
  const turn = Math.max(first, ...own.map((call) => call.turn + 1))
  return { kind, payment, signature, turn, tries: 0, claim: null, claimedUntil: 0, slot: null }
}

export function callsOf(twin: Twin, slot: Slot): Call[] {
  return twin.calls.filter((call) => call.slot === slot)
}

/** Returns the payments whose transfers are among the calls. */
export const transfersIn = (calls: readonly Call[]): Payment[] =>
  calls.filter(({ kind }) => kind === 'transfer').map(({ payment }) => payment)

/** Returns the payments whose cancellations are among the calls. */
export const cancelsIn = (calls: readonly Call[]): Payment[] =>
  calls.filter(({ kind }) => kind === 'cancel').map(({ payment }) => payment)

/**
 * Adds a replacement to a slot, unless a freeze has stopped one of its transfers by now. None with
 * transfers is added while its relayer's lane is leased for the next transaction.
 */
export function replace(twin: Twin, slot: Slot, number: number, attempt: Attempt): boolean {
  if (slot.state !== 'open' || slot.attempts.length >= number || isStopped(attempt)) return false
  if (!hasGasFor(twin, slot, attempt)) return false
  const isLeased = slot.lane.kind === 'relayer' && isHeld(twin, slot.lane)
  if (attempt.carries.length > 0 && isLeased) return false
  slot.attempts.push(attempt)
  for (const payment of attempt.carries) {
    if (payment.state === 'signed') payment.txHash = attempt.hash
  }
  raiseGas(twin, slot, attempt)
  return true
}

/** Removes the queued calls of a payment that is over. */
export function leaveQueue(
  twin: Twin,
  payment: Payment,
  kinds: readonly Call['kind'][] = ['cancel', 'transfer'],
): void {
  twin.calls = twin.calls.filter(
    (call) => call.payment !== payment || call.slot !== null || !kinds.includes(call.kind),
  )
}

/** Aligns a lane's counter with the chain's and opens a slot for every nonce of a small gap. */
export function repairLane(twin: Twin, lane: Lane, counted: number, highest: number): boolean {
  if (isHeld(twin, lane)) return false
  const slots = twin.slots.filter((slot) => slot.lane === lane)
  const isEmpty = slots.every(({ nonce }) => nonce < counted)
  Object.assign(lane, { lease: null, leasedUntil: 0, mined: counted })
  if (lane.next < counted) lane.next = counted
  else if (isEmpty) lane.next = Math.min(lane.next, highest)
  const isGap = missingIn(lane, slots, counted) > aheadMax
  if (isGap || lane.pausedFor === 'nonce_gap') lane.pausedFor = isGap ? 'nonce_gap' : null
  if (isGap) return false
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

function missingIn(lane: Lane, slots: readonly Slot[], counted: number): number {
  const numbers = Array.from({ length: lane.next - counted }, (_, index) => counted + index)
  const held = slots.filter(({ state }) => state !== 'lost').map(({ nonce }) => nonce)
  return numbers.filter((number) => !held.includes(number)).length
}

export function pauseLane(lane: Lane, reason: string | null): boolean {
  const isChange = lane.pausedFor !== reason && lane.pausedFor !== 'nonce_gap'
  if (isChange) lane.pausedFor = reason
  return isChange
}

/** Decides whether the watch over slots, not over payments, is responsible for a payment. */
export function isInSlot(twin: Twin, payment: Payment): boolean {
  return twin.calls.some(
    ({ kind, payment: carried, slot }) =>
      kind === 'transfer' &&
      carried === payment &&
      slot !== null &&
      (payment.validBefore ?? 0) > twin.now &&
      (slot.state === 'open' ||
        (slot.state === 'mined' && slot.block?.hash === payment.place?.hash)),
  )
}
