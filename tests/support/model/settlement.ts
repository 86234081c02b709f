/** The twin of what the ledger books when somebody looked at the chain. */
import { acquaint } from './payments.ts'
import { callsOf, isInSlot, leaveQueue } from './relay.ts'
import type { Finality, Payment, Slot, Twin } from './state.ts'
import { isUnused } from './state.ts'

export type Proof = {
  hash: string
  block: number
  blockHash: string
  log: number
  finality: Finality
}

export function settle(twin: Twin, payment: Payment, proof: Proof): Payment | undefined {
  if (!['signed', 'unknown', 'settled'].includes(payment.state)) return undefined
  payment.settledAt ??= twin.now
  payment.state = 'settled'
  payment.txHash = proof.hash
  payment.place = { block: proof.block, hash: proof.blockHash, log: proof.log }
  payment.finality = proof.finality
  acquaint(payment)
  leaveQueue(twin, payment)
  return payment
}

function unsettle(payment: Payment, gone: string): boolean {
  if (payment.state !== 'settled' || payment.place?.hash !== gone) return false
  payment.state = payment.kind === 'transfer' ? 'signed' : 'unknown'
  payment.place = null
  payment.finality = 'reorged'
  payment.account.feed.push({ type: `${payment.kind}_reorged`, payment })
  return true
}

function reopen(slot: Slot, gone: string): boolean {
  if (slot.state !== 'mined' || slot.block?.hash !== gone) return false
  slot.state = 'open'
  slot.block = null
  return true
}

/** The block of a settlement is gone. */
export function reorg(twin: Twin, payment: Payment, gone: string): Payment | undefined {
  if (!unsettle(payment, gone)) return undefined
  for (const call of twin.calls) {
    if (call.payment === payment && call.slot) reopen(call.slot, gone)
  }
  return payment
}

/** The block of a slot is gone, and with it what it settled. */
export function reopenSlot(twin: Twin, slot: Slot, gone: string): boolean {
  if (!reopen(slot, gone)) return false
  for (const { payment } of callsOf(twin, slot)) unsettle(payment, gone)
  return true
}

/** Gives the calls of a place back that cannot be mined now, or never; a wallet's own then ends. */
export function requeue(twin: Twin, slot: Slot, lost: boolean): boolean {
  if (slot.state !== 'open') return false
  const calls = callsOf(twin, slot)
  if (lost) slot.state = 'lost'
  if (slot.lane.kind === 'relayer') for (const call of calls) call.slot = null
  if (slot.lane.kind === 'relayer' || !lost) return true
  for (const { payment } of calls) {
    unsettle(payment, payment.place?.hash ?? '')
    release(twin, payment, 'failed', 'another transaction of the wallet took its nonce')
  }
  return true
}

export function bookSlot(
  twin: Twin,
  slot: Slot,
  proof: Omit<Proof, 'log'>,
  settled: { payment: Payment; log: number }[],
): boolean {
  if (slot.state !== 'open' && slot.state !== 'mined') return false
  slot.block = { number: proof.block, hash: proof.blockHash }
  slot.state = proof.finality === 'finalized' ? 'final' : 'mined'
  for (const { payment } of callsOf(twin, slot)) {
    const { place, nonce } = payment
    const isElsewhere = nonce === null && place !== null && place.hash !== proof.blockHash
    const isHere = settled.some((one) => one.payment === payment)
    if (isElsewhere && !isHere) unsettle(payment, place.hash)
    if (payment.state === 'signed') payment.txHash = proof.hash
  }
  for (const { payment, log } of settled) settle(twin, payment, { ...proof, log })
  return true
}

export function release(
  twin: Twin,
  payment: Payment,
  state: 'failed' | 'released',
  reason: string,
): Payment | undefined {
  if (payment.state !== 'signed' && payment.state !== 'unknown') return undefined
  Object.assign(payment, { state, failure: reason })
  leaveQueue(twin, payment)
  return payment
}

/** An x402 request was sent: what the merchant answered, and the settlement if the chain has one. */
export function finishAttempt(
  twin: Twin,
  payment: Payment,
  delivery: unknown,
  proof: Proof | undefined,
): Payment | undefined {
  const isUnderWay = ['signed', 'unknown', 'settled'].includes(payment.state)
  if (payment.kind !== 'x402' || !isUnderWay) return undefined
  payment.delivery = delivery
  payment.leasedUntil = twin.now
  if (payment.state === 'signed') payment.state = 'unknown'
  if (proof) settle(twin, payment, proof)
  return payment
}

const unsignedSeconds = 60

/** Closes what nobody used, and answers the payments that the chain has the next word on. */
export function openPayments(twin: Twin): Payment[] {
  for (const payment of twin.payments) {
    if (isUnused(payment) && payment.expiresAt <= twin.now) payment.state = 'expired'
    const isAbandoned = payment.leasedUntil <= twin.now - unsignedSeconds
    if (payment.state === 'authorized' && isAbandoned) {
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
