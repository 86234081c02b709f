/** The twin of entering a payment, deciding about it and storing its signature. */
import { isOwed, partOf } from './delivery.ts'
import { reserveGas } from './gas.ts'
import { isCounted, isWithinCaps, mayPay, reservedOf } from './limits.ts'
import { fits } from './policy.ts'
import type { Claim, Seen } from './relay.ts'
import {
  claimLane,
  claimWallet,
  fillSlot,
  gasNeeded,
  isFull,
  isGivenUp,
  isRelayNeeded,
  leaveQueue,
  newCall,
} from './relay.ts'
import type { Key, Level, Mandate, Payment, Twin } from './state.ts'
import { admit, findOwn, isLive, isUnused, Refused } from './state.ts'
import { waitingAlike } from './wishes.ts'

export type Entry = {
  kind: Payment['kind']
  device: string
  token: string
  atomic: bigint
  usd: bigint
  seconds: number
  origin: string | null
  resource: string | null
  heard: boolean
  payee: string | null
  alias: string | null
  claim: string | null
}

const blank = {
  state: 'prepared' as const,
  approval: null,
  ticks: { anyKey: false, payee: false, device: false },
  mandate: null,
  askedLevel: null,
  level: null,
  authorizedAt: null,
  freezes: 0,
  limitsThen: null,
  paidBy: null,
  capsThen: null,
  seenBlock: null,
  validBefore: null,
  leasedUntil: 0,
  nonce: null,
  signature: null,
  txHash: null,
  place: null,
  finality: null,
  isReopened: false,
  settledAt: null,
  settledIn: null,
  placedAt: null,
  returnedAt: null,
  delivery: null,
  failure: null,
}

/**
 * Enters a payment under the id that the ledger gave it; an idempotency claim finds its earlier entry. A
 * payment to its own wallet is not entered.
 */
export function begin(
  twin: Twin,
  credential: string,
  id: string,
  entry: Entry,
): Payment | undefined {
  const key = admit(twin, credential, 'pay')
  const named = twin.accounts.find(({ alias }) => alias === entry.alias)
  if (entry.alias !== null && !named) throw new Refused('recipient_not_found')
  const before = twin.payments.find(
    ({ account, kind, claim }) =>
      account === key.account && kind === entry.kind && claim !== null && claim === entry.claim,
  )
  if (before) return before
  const { seconds, payee, ...terms } = entry
  const times = { createdAt: twin.now, expiresAt: twin.now + seconds }
  const to = named?.wallet ?? payee ?? ''
  const waiting =
    entry.claim === null ? waitingAlike(twin, key, { ...entry, payee: to }) : undefined
  if (waiting) {
    const { device, origin, heard } = entry
    if (!waiting.approval) Object.assign(waiting, { device, origin, heard })
    return waiting
  }
  if (to === key.account.wallet) return undefined
  const payment = { ...blank, ...terms, ...times, id, account: key.account, key, payee: to }
  twin.payments.push(payment)
  return payment
}

/** Resets a payment that was reserved and not signed in time, so that it is decided again. */
function reconsider(twin: Twin, payment: Payment | undefined): void {
  if (payment?.state !== 'authorized' || isCounted(twin, payment)) return
  const state = payment.approval ? 'awaiting_confirmation' : 'prepared'
  const { authorizedAt, limitsThen, paidBy, capsThen, level, mandate } = blank
  const { seenBlock, validBefore, finality, leasedUntil } = blank
  Object.assign(payment, { state, authorizedAt, limitsThen, paidBy, capsThen, level, mandate })
  Object.assign(payment, { seenBlock, validBefore, finality, leasedUntil })
  twin.gas = twin.gas.filter((use) => use.payment !== payment || use.slot !== null)
}

/** Returns the payment with the device and key that ask now. */
export function readFacts(
  twin: Twin,
  credential: string,
  asked: { id: string; kind: string; device: string },
): Payment | undefined {
  const key = admit(twin, credential, 'pay')
  const payment = findOwn(twin, key, asked.id)
  reconsider(twin, payment)
  if (payment?.kind !== asked.kind) return undefined
  if (isUnused(payment) && !payment.approval) {
    Object.assign(payment, { device: asked.device, key })
  }
  return payment
}

export function awaitConfirmation(twin: Twin, credential: string, id: string, level: Level): void {
  const payment = findOwn(twin, admit(twin, credential, 'pay'), id)
  if (payment?.state === 'awaiting_confirmation') payment.askedLevel = level
  if (payment?.state !== 'prepared') return
  payment.askedLevel = level
  payment.state = 'awaiting_confirmation'
  payment.account.feed.push({ type: 'confirmation_requested', payment })
}

export type Asked = {
  id: string
  level: Level
  mandate: Mandate | null
  version: number
  funds: bigint
  seenBlock: number
  validBefore: number
  gasFrom: 'relayer' | 'wallet' | null
  walletNonce: number
  walletWei: bigint
  costWei: bigint
  lanes: Seen[]
}
export type Decided = { outcome: string; first: boolean; payment?: Payment; claim?: Claim }

export const leaseSeconds = 45

/** Commits an authorization or returns why not; `told` is the lane claim whose ids the ledger chose. */
export function authorize(
  twin: Twin,
  credential: string,
  asked: Asked,
  told: Claim | undefined,
): Decided {
  const key = admit(twin, credential, 'pay')
  const payment = findOwn(twin, key, asked.id)
  if (!payment) return { outcome: 'not_found', first: false }
  reconsider(twin, payment)
  if (!mayPay(twin, key, payment)) return { outcome: 'closed', first: false }
  if (payment.state !== 'authorized' && isLive(payment) && isGivenUp(payment)) {
    return { outcome: 'closed', first: false }
  }
  const goesOn = isLive(payment) || isOwed(twin, payment)
  // One caller at a time handles an authorized payment, and nobody asks again for what was delivered.
  const isDriven = goesOn && (payment.leasedUntil > twin.now || partOf(payment.delivery) === 2)
  if (isDriven) return { outcome: 'authorized', first: false, payment }
  const hindrance = goesOn ? undefined : hindranceOf(twin, key, payment, asked)
  if (hindrance) return { outcome: hindrance, first: false }
  if (goesOn) payment.leasedUntil = twin.now + leaseSeconds
  if (payment.signature === null && !reserveGas(twin, payment, asked)) {
    return { outcome: 'gas_budget', first: false }
  }
  if (takesOwnPlace(payment, asked) && isFull(twin, payment.account.wallet)) {
    return { outcome: 'lane_full', first: false }
  }
  if (isGasShort(twin, payment, asked)) return { outcome: 'insufficient_gas', first: false }
  const claim = claimFor(twin, payment, asked, told)
  if (takesOwnPlace(payment, asked) && !claim) return { outcome: 'stale', first: false }
  if (!goesOn) reserve(twin, key, payment, asked)
  return { outcome: 'authorized', first: true, payment, ...(claim ? { claim } : {}) }
}

/** Decides whether a payment needs a slot in the wallet's own lane; a busy wallet signs nothing. */
function takesOwnPlace({ kind, signature }: Payment, { gasFrom }: Asked): boolean {
  return kind === 'transfer' && signature === null && gasFrom === 'wallet'
}

function hindranceOf(twin: Twin, key: Key, payment: Payment, asked: Asked): string | undefined {
  if (!isUnused(payment)) return 'closed'
  if (payment.expiresAt <= twin.now) return 'expired'
  if (key.account.version !== asked.version) return 'stale'
  if (!isWithinCaps(twin, key, payment)) return 'stale'
  if (!fits(twin, key, payment, asked.level, asked.mandate)) return 'stale'
  if (reservedOf(twin, payment) + payment.atomic > asked.funds) return 'insufficient_funds'
  return undefined
}

function isGasShort(twin: Twin, payment: Payment, asked: Asked): boolean {
  const needed = gasNeeded(twin, payment.account.wallet, asked.costWei)
  return takesOwnPlace(payment, asked) && asked.walletWei < needed
}

function reserve(twin: Twin, key: Key, payment: Payment, asked: Asked): void {
  Object.assign(payment, {
    state: 'authorized',
    finality: 'submitted',
    authorizedAt: twin.now,
    freezes: payment.account.freezes,
    limitsThen: { ...payment.account.limits },
    paidBy: key,
    capsThen: { ...key.caps },
    level: asked.level,
    mandate: asked.level === 'mandate' ? asked.mandate : null,
    seenBlock: asked.seenBlock,
    validBefore: asked.validBefore,
    leasedUntil: twin.now + leaseSeconds,
  })
  payment.account.feed.push({ type: `${payment.kind}_authorized`, payment })
}

function claimFor(
  twin: Twin,
  payment: Payment,
  asked: Asked,
  told: Claim | undefined,
): Claim | undefined {
  if (payment.kind !== 'transfer' || payment.signature !== null) return undefined
  if (asked.gasFrom === 'wallet') return claimWallet(twin, payment, asked.walletNonce, told)
  return claimLane(twin, asked.lanes, true, told)
}

export type Signed = {
  payment: Payment
  authorizedAt: number | null
  nonce: string
  signature: string
  lease: string | null
  /** True in the wallet's own lane, where the signature is stored with its transaction or not at all. */
  isOwn: boolean
  calls: number
  hash: string
  cost: bigint
}

/** Stores a signature, and the transaction around it if its lane is still leased. */
export function record(twin: Twin, signed: Signed) {
  const { payment, nonce, signature, lease, isOwn, authorizedAt } = signed
  const isHeld = twin.lanes.some((lane) => lane.lease !== null && lane.lease === lease)
  const isSame = payment.state === 'authorized' && payment.authorizedAt === authorizedAt
  const kept = isSame && isCounted(twin, payment) && (!isOwn || isHeld)
  const isRelayed = payment.kind === 'transfer'
  if (kept) Object.assign(payment, { state: 'signed', nonce, signature })
  if (kept && isRelayed) {
    twin.calls.push({ ...newCall(twin, 'transfer', payment, signature), claim: lease })
  }
  const sent = lease !== null && fillSlot(twin, lease, signed.calls, signed)
  return { kept, sent, queued: isRelayed && isRelayNeeded(twin) }
}

/** Releases a payment whose approval does not hold, unless it is signed already. */
export function withdraw(twin: Twin, payment: Payment): boolean {
  if (payment.state !== 'authorized' || payment.signature !== null) return false
  Object.assign(payment, {
    state: 'released',
    failure: 'its approval did not hold',
    finality: null,
  })
  leaveQueue(twin, payment)
  payment.account.feed.push({ type: `${payment.kind}_consent_invalid`, payment })
  return true
}

/** Records that the service itself received the challenge from the merchant. */
export function noteHeard(twin: Twin, credential: string, id: string): boolean {
  const payment = findOwn(twin, admit(twin, credential, 'pay'), id)
  if (!payment || !isUnused(payment)) return false
  payment.heard = true
  return true
}
