/** Custody's work after the ledger has decided: sign and store. Another process may come in between. */
import type { Transaction } from './chain.ts'
import { newHash, send } from './chain.ts'
import { callWire, claimFrom, claimWire, lanesSeen, ownerOf } from './claims.ts'
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, pickPayment, pickSlot, rowOf } from './house.ts'
import { confirmStopped } from './invariants.ts'
import { timeText } from './mandate-wire.ts'
import type { Asked, Signed } from './payments.ts'
import { record, withdraw } from './payments.ts'
import type { Claim } from './relay.ts'
import {
  callsOf,
  cancelsIn,
  claimLane,
  fillSlot,
  isRelayNeeded,
  isStopped,
  mayLeave,
  replace,
  transfersIn,
} from './relay.ts'
import type { Call, Payment, Slot } from './state.ts'

const attemptsMax = 12
const heldAttemptsMax = 16
const fees = { max_fee_per_gas: '2', max_priority_fee_per_gas: '1' }
export const drawCost = (dice: Dice) => BigInt(10 + dice.below(30))

/** Finishes at once, later, or never. */
export async function hold(house: House, dice: Dice, name: string, finish: () => Promise<void>) {
  if (dice.isLucky(65)) return finish()
  if (dice.isLucky(85)) house.works.push({ name, finish })
}

export function holdPayment(
  house: House,
  dice: Dice,
  payment: Payment,
  { gasFrom, costWei }: Asked,
  claim: Claim | undefined,
): Promise<void> {
  if (dice.isLucky(3)) return hold(house, dice, 'withdraw', () => withdrawOne(house, payment))
  const signed: Signed = {
    payment,
    authorizedAt: payment.authorizedAt,
    nonce: `0x${payment.id.replaceAll('-', '').padStart(64, '0')}`,
    signature: `signature of ${payment.id}`,
    lease: claim?.lease ?? null,
    isOwn: gasFrom === 'wallet',
    calls: (claim?.calls.length ?? 0) + 1,
    hash: newHash(house.chain),
    cost: costWei,
  }
  return hold(house, dice, 'record', () => recordPayment(house, dice, signed, claim))
}

/** Withdraws a payment, as custody does when it does not find the owner's signature. */
async function withdrawOne(house: House, payment: Payment): Promise<void> {
  const answer = await ask(house, 'custody_withdraw', { payment: payment.id })
  agree('custody_withdraw', answer, [{ custody_withdraw: withdraw(house.twin, payment) }])
}

async function withdrawAny(house: House, dice: Dice): Promise<void> {
  const payment = pickPayment(house, dice)
  if (payment) await withdrawOne(house, payment)
}

async function recordPayment(
  house: House,
  dice: Dice,
  signed: Signed,
  claim: Claim | undefined,
): Promise<void> {
  const { payment, nonce, signature, lease, isOwn, calls, hash, cost } = signed
  const answer = await ask(house, 'custody_record', {
    payment: payment.id,
    authorized_at: timeText(signed.authorizedAt),
    authorization_nonce: nonce,
    signature,
    own: isOwn,
    ...(claim ? { lease, calls, ...storedWire(hash, cost) } : {}),
  })
  const kept = record(house.twin, signed)
  agree('custody_record', rowOf(answer), kept)
  if (payment.kind === 'x402' && kept.kept) house.published.add(payment)
  if (!claim || !kept.sent) return
  const waiting = transactionOf(hash, claim, claim.calls)
  await store(house, dice, { ...waiting, payments: [...waiting.payments, payment] })
}

const storedWire = (hash: string, cost: bigint) => {
  return { tx_hash: hash, raw: hash, ...fees, cost_wei: cost.toString() }
}

type Place = { lane: string; nonce: number }

function transactionOf(hash: string, { lane, nonce }: Place, calls: readonly Call[]): Transaction {
  const cancels = calls.filter(({ kind }) => kind === 'cancel').map(({ payment }) => payment)
  return { hash, sender: lane, nonce, payments: transfersIn(calls), cancels }
}

/** Stores a transaction. It may be sent now; otherwise housekeeping finds it. */
async function store(house: House, dice: Dice, transaction: Transaction): Promise<void> {
  confirmStopped(transaction)
  house.stored.set(transaction.hash, transaction)
  if (dice.isLucky(75)) await dispatch(house, transaction.hash)
}

/** Sends stored bytes if the ledger lets them out. */
export async function dispatch(house: House, hash: string): Promise<void> {
  const { twin, chain, stored, published } = house
  const answer = await ask(house, 'housekeeping_dispatch', { tx_hash: hash })
  const attempt = twin.slots.flatMap(({ attempts }) => attempts).find((one) => one.hash === hash)
  const isLetOut = attempt !== undefined && !isStopped(attempt)
  agree('housekeeping_dispatch', answer, [{ housekeeping_dispatch: isLetOut }])
  const transaction = stored.get(hash)
  if (!isLetOut || !transaction) return
  attempt.isOut = true
  send(chain, transaction)
  for (const payment of transaction.payments) published.add(payment)
}

async function finishWork(house: House, dice: Dice): Promise<void> {
  const work = dice.anyOf(house.works)
  if (!work) return
  house.works.splice(house.works.indexOf(work), 1)
  if (dice.isLucky(92)) await work.finish()
}

/** Takes what is queued for the next free lane. */
export async function relayQueued(house: House, dice: Dice): Promise<void> {
  const { twin } = house
  const lanes = lanesSeen(house, dice)
  const answer = await ask(house, 'custody_claim', { chain: twin.chain, lanes })
  const told = rowOf(answer)?.['claim']
  const claim = claimLane(twin, lanes, false, claimFrom(told))
  agree('custody_claim', told, claim && claimWire(house, claim))
  if (!claim) return
  const signed = { hash: newHash(house.chain), cost: drawCost(dice) }
  await hold(house, dice, 'record claim', () => recordClaim(house, dice, claim, signed))
}

async function recordClaim(
  house: House,
  dice: Dice,
  claim: Claim,
  signed: { hash: string; cost: bigint },
): Promise<void> {
  const { twin } = house
  const { lease, calls } = claim
  const answer = await ask(house, 'custody_record_claim', {
    chain: twin.chain,
    lease,
    calls: calls.length,
    ...storedWire(signed.hash, signed.cost),
  })
  const sent = fillSlot(twin, lease, calls.length, signed)
  agree('custody_record_claim', rowOf(answer), { sent, queued: isRelayNeeded(twin) })
  if (sent) await store(house, dice, transactionOf(signed.hash, claim, calls))
}

async function replaceOne(house: House, dice: Dice): Promise<void> {
  const slot = pickSlot(house, dice)
  if (slot) await replaceSlot(house, dice, slot)
}

/** Loads a slot and signs it again; the signature may be stored after the slot is over. */
export async function replaceSlot(house: House, dice: Dice, slot: Slot): Promise<void> {
  const { twin } = house
  const answer = await ask(house, 'custody_load_slot', { slot: slot.id })
  const calls = callsOf(twin, slot).filter((call) => mayLeave(twin, call))
  agree('custody_load_slot', loadedFrom(rowOf(answer)), loadedWire(house, slot))
  const latest = slot.attempts.at(-1)
  const most = latest && isStopped(latest) ? heldAttemptsMax : attemptsMax
  if (slot.state !== 'open' || slot.attempts.length >= most) return
  const number = slot.attempts.length + 1
  const place = { lane: slot.lane.address, nonce: slot.nonce }
  const transaction = transactionOf(newHash(house.chain), place, calls)
  const cost = drawCost(dice)
  await hold(house, dice, 'record replacement', () =>
    recordReplacement(house, dice, slot, { number, transaction, cost, cancels: cancelsIn(calls) }),
  )
}

function loadedFrom(row: Record<string, unknown> | undefined) {
  if (!row) return undefined
  const { lane, nonce, attempts, held, calls, owner } = row
  return { lane, nonce, attempts, held, calls, owner }
}

function loadedWire({ twin }: House, slot: Slot) {
  if (slot.state !== 'open') return undefined
  const { lane, nonce, attempts } = slot
  const latest = attempts.at(-1)
  return {
    lane: lane.address,
    nonce,
    attempts: attempts.length,
    held: latest !== undefined && isStopped(latest),
    calls: callsOf(twin, slot)
      .filter((call) => mayLeave(twin, call))
      .map(callWire),
    owner: ownerOf(twin, lane.address),
  }
}

async function recordReplacement(
  house: House,
  dice: Dice,
  slot: Slot,
  signed: { number: number; transaction: Transaction; cost: bigint; cancels: readonly Payment[] },
): Promise<void> {
  const { number, transaction, cost, cancels } = signed
  const { hash, payments: carries } = transaction
  const answer = await ask(house, 'custody_record_replacement', {
    slot: slot.id,
    attempt: number,
    ...storedWire(hash, cost),
    carries: carries.map(({ id }) => id),
    cancels: cancels.map(({ id }) => id),
  })
  const isKept = replace(house.twin, slot, number, { hash, cost, carries, cancels })
  agree('custody_record_replacement', answer, [{ custody_record_replacement: isKept }])
  if (isKept) await store(house, dice, transaction)
}

/** Sends stored bytes again, as housekeeping does with every open slot. */
async function sendStored(house: House, dice: Dice): Promise<void> {
  const open = house.twin.slots.filter(({ state, attempts }) => {
    return state === 'open' && attempts.length > 0
  })
  const attempt = dice.anyOf(dice.anyOf(open)?.attempts ?? [])
  if (attempt) await dispatch(house, attempt.hash)
}

export const custodyOperations: readonly Operation[] = [
  { name: 'finish work', weight: 8, run: finishWork },
  { name: 'claim', weight: 8, run: relayQueued },
  { name: 'replace', weight: 3, run: replaceOne },
  { name: 'send stored', weight: 5, run: sendStored },
  { name: 'withdraw', weight: 1, run: withdrawAny },
]
