/** The twin of what the ledger books after a look at the chain. */
import { partOf } from './delivery.ts'
import { requeueCall } from './gas.ts'
import { isCounted } from './limits.ts'
import { callsOf, isInSlot, leaveQueue, mayLeave, transfersIn } from './relay.ts'
import type { Call, Finality, Payment, Slot, Twin } from './state.ts'
import { isUnused, liveUntil } from './state.ts'

export type Proof = {
  hash: string
  block: number
  blockHash: string
  log: number
  finality: Finality
}

/** Returns now; for a payment booked in another block before, at most the end of its signature. */
function settlesAt({ now }: Twin, payment: Payment): number {
  const { settledAt } = payment
  return settledAt === null ? now : Math.min(now, Math.max(settledAt, liveUntil(payment)))
}

/** Returns the settlement time once the block is final: when the payment was first seen in it. */
function settlesForGood(payment: Payment): number {
  return Math.max(payment.settledAt ?? 0, payment.placedAt ?? 0)
}

export function settle(twin: Twin, payment: Payment, proof: Proof): Payment | undefined {
  if (!['signed', 'unknown', 'settled'].includes(payment.state)) return undefined
  const hadLeft = !isCounted(twin, payment)
  const isSameBlock = payment.place === null || payment.place.hash === proof.blockHash
  const isFinal = payment.state === 'settled' && payment.finality === 'finalized'
  if (isFinal) return isSameBlock ? payment : undefined
  if (payment.settledIn !== proof.blockHash) {
    Object.assign(payment, {
      settledIn: proof.blockHash,
      settledAt: settlesAt(twin, payment),
      placedAt: twin.now,
    })
  }
  if (proof.finality === 'finalized') payment.settledAt = settlesForGood(payment)
  payment.state = 'settled'
  payment.txHash = proof.hash
  payment.place = { block: proof.block, hash: proof.blockHash, log: proof.log }
  payment.finality = proof.finality
  if (hadLeft && isCounted(twin, payment)) payment.returnedAt = twin.now
  leaveQueue(twin, payment, payment.finality === 'finalized' ? ['cancel', 'transfer'] : ['cancel'])
  return payment
}

function unsettle(twin: Twin, payment: Payment, gone: string): boolean {
  if (payment.state !== 'settled' || payment.place?.hash !== gone) return false
  if (payment.finality === 'finalized') return false
  if (!isCounted(twin, payment)) payment.returnedAt = twin.now
  payment.state = payment.kind === 'transfer' ? 'signed' : 'unknown'
  payment.place = null
  payment.finality = 'reorged'
  payment.isReopened = true
  payment.account.feed.push({ type: `${payment.kind}_reorged`, payment })
  return true
}

function reopen(slot: Slot, gone: string): boolean {
  if (slot.state !== 'mined' || slot.block?.hash !== gone) return false
  slot.state = 'open'
  slot.block = null
  return true
}

/** Undoes a settlement whose block is gone. */
export function reorg(twin: Twin, payment: Payment, gone: string): Payment | undefined {
  if (!unsettle(twin, payment, gone)) return undefined
  for (const call of twin.calls) {
    if (call.payment === payment && call.slot) reopen(call.slot, gone)
  }
  return payment
}

/** Reopens a slot whose block is gone, and undoes what that block settled. */
export function reopenSlot(twin: Twin, slot: Slot, gone: string): boolean {
  if (!reopen(slot, gone)) return false
  for (const payment of transfersIn(callsOf(twin, slot))) unsettle(twin, payment, gone)
  return true
}

/** Returns the calls of a slot that cannot be mined now, or ever, to the queue; a wallet's own stay. */
export function requeue(twin: Twin, slot: Slot, lost: boolean): boolean {
  if (slot.state !== 'open') return false
  const calls = callsOf(twin, slot)
  if (lost) slot.state = 'lost'
  if (slot.lane.kind === 'relayer') for (const call of calls) requeueCall(twin, call)
  return true
}

export function bookSlot(
  twin: Twin,
  slot: Slot,
  proof: Omit<Proof, 'log'>,
  settled: { payment: Payment; log: number }[],
): boolean {
  if (slot.state !== 'open' && slot.state !== 'mined') return false
  const isElsewhere = proof.finality === 'finalized' && slot.block?.hash !== proof.blockHash
  const isNew = slot.state === 'open' || isElsewhere
  slot.block = { number: proof.block, hash: proof.blockHash }
  slot.state = proof.finality === 'finalized' ? 'final' : 'mined'
  for (const use of twin.gas) if (isNew && use.slot === slot) use.at = twin.now
  const transfers = callsOf(twin, slot).filter(({ kind }) => kind === 'transfer')
  for (const { payment } of transfers) {
    if (payment.state !== 'signed') continue
    payment.txHash = proof.hash
    if (!settled.some((one) => one.payment === payment)) payment.finality = 'reverted'
  }
  for (const { payment, log } of settled) settle(twin, payment, { ...proof, log })
  for (const call of transfers) if (mayRetry(twin, call)) requeueCall(twin, call)
  return true
}

const callTries = 10
const retrySeconds = 60

/** Decides whether a reverted transfer of a relayer is tried again while there is time. */
function mayRetry(twin: Twin, call: Call): boolean {
  const { payment, slot, tries } = call
  const isReverted = payment.finality === 'reverted' && slot?.lane.kind === 'relayer'
  const isLong = (payment.validBefore ?? 0) > twin.now + retrySeconds
  return isReverted && mayLeave(twin, call) && tries < callTries && isLong
}

export function release(twin: Twin, payment: Payment, reason: string): Payment | undefined {
  if (payment.state !== 'signed' && payment.state !== 'unknown') return undefined
  if (twin.now < (payment.validBefore ?? 0)) return undefined
  Object.assign(payment, { state: 'released', failure: reason, finality: null })
  leaveQueue(twin, payment)
  return payment
}

/** Records the merchant's answer to an x402 request. */
export function finishAttempt(
  twin: Twin,
  payment: Payment,
  delivery: unknown,
): Payment | undefined {
  const isUnderWay = ['signed', 'unknown', 'settled'].includes(payment.state)
  if (payment.kind !== 'x402' || !isUnderWay) return undefined
  if (partOf(payment.delivery) <= partOf(delivery) && partOf(payment.delivery) < 2) {
    payment.delivery = delivery
  }
  payment.leasedUntil = twin.now
  if (payment.state === 'signed') payment.state = 'unknown'
  return payment
}

/** Closes what was not used in time, and returns the payments whose outcome the chain decides. */
export function openPayments(twin: Twin): Payment[] {
  for (const payment of twin.payments) {
    if (isUnused(payment) && payment.expiresAt <= twin.now) payment.state = 'expired'
    if (payment.state === 'authorized' && !isCounted(twin, payment)) {
      payment.state = 'released'
      payment.failure = 'nothing was signed in time'
    }
  }
  return twin.payments.filter((payment) => {
    if (isInSlot(twin, payment)) return false
    const isDue = ['signed', 'unknown'].includes(payment.state) && payment.leasedUntil <= twin.now
    return isDue || (payment.state === 'settled' && payment.finality !== 'finalized')
  })
}
