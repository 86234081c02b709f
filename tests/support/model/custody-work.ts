/** What custody does after the ledger has decided: sign and store. Another may come in between. */
import type { Transaction } from './chain.ts'
import { newHash, send } from './chain.ts'
import { callWire, claimFrom, claimWire, lanesSeen } from './claims.ts'
import type { Dice } from './dice.ts'
import type { House, Operation } from './house.ts'
import { agree, ask, pickPayment, pickSlot, rowOf } from './house.ts'
import type { Asked, Signed } from './payments.ts'
import { record, withdraw } from './payments.ts'
import type { Claim } from './relay.ts'
import { callsOf, claimLane, fillSlot, isRelayNeeded, replace } from './relay.ts'
import type { Payment, Slot } from './state.ts'

const attemptsMax = 12
const gas = { max_fee_per_gas: '2', max_priority_fee_per_gas: '1' }

/** Finishes at once, later, or never. */
async function hold(house: House, dice: Dice, name: string, finish: () => Promise<void>) {
  if (dice.isLucky(65)) return finish()
  if (dice.isLucky(85)) house.works.push({ name, finish })
}

export function holdPayment(
  house: House,
  dice: Dice,
  payment: Payment,
  { gasFrom }: Asked,
  claim: Claim | undefined,
): Promise<void> {
  if (dice.isLucky(3)) return hold(house, dice, 'withdraw', () => withdrawOne(house, payment))
  // A wallet that is busy signs nothing.
  if (gasFrom === 'wallet' && !claim) return Promise.resolve()
  const isDirect = gasFrom === 'wallet'
  const signed: Signed = {
    payment,
    nonce: isDirect ? null : `0x${payment.id.replaceAll('-', '').padStart(64, '0')}`,
    signature: isDirect ? null : `signature of ${payment.id}`,
    lease: claim?.lease ?? null,
    calls: (claim?.calls.length ?? 0) + 1,
    hash: newHash(house.chain),
  }
  const carried = [...(claim?.calls ?? []).map((call) => call.payment), payment]
  return hold(house, dice, 'record', () => recordPayment(house, dice, signed, claim, carried))
}

/** Custody does not find that the owner signed this. */
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
  payments: Payment[],
): Promise<void> {
  const { payment, nonce, signature, lease, calls, hash } = signed
  const answer = await ask(house, 'custody_record', {
    payment: payment.id,
    authorization_nonce: nonce,
    signature,
    ...(claim ? { lease, calls, tx_hash: hash, raw: hash, ...gas } : {}),
  })
  const kept = record(house.twin, signed)
  agree('custody_record', rowOf(answer), kept)
  if (payment.kind === 'x402' && kept.kept) house.published.add(payment)
  if (!claim || !kept.sent) return
  const isDirect = signature === null
  store(house, dice, { hash, sender: claim.lane, nonce: claim.nonce, isDirect, payments })
}

/** What is stored may be sent now, or housekeeping finds it. */
function store(house: House, dice: Dice, transaction: Transaction): void {
  house.stored.set(transaction.hash, transaction)
  if (dice.isLucky(75)) broadcast(house, transaction)
}

export function broadcast({ chain, published }: House, transaction: Transaction): void {
  send(chain, transaction)
  if (transaction.isDirect) return
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
  const hash = newHash(house.chain)
  await hold(house, dice, 'record claim', () => recordClaim(house, dice, claim, hash))
}

async function recordClaim(house: House, dice: Dice, claim: Claim, hash: string): Promise<void> {
  const { twin } = house
  const { lease, lane, nonce, calls } = claim
  const answer = await ask(house, 'custody_record_claim', {
    chain: twin.chain,
    lease,
    calls: calls.length,
    tx_hash: hash,
    raw: hash,
    ...gas,
  })
  const sent = fillSlot(twin, lease, calls.length, hash)
  agree('custody_record_claim', rowOf(answer), { sent, queued: isRelayNeeded(twin) })
  const payments = calls.map(({ payment }) => payment)
  if (sent) store(house, dice, { hash, sender: lane, nonce, isDirect: false, payments })
}

async function replaceOne(house: House, dice: Dice): Promise<void> {
  const slot = pickSlot(house, dice)
  if (slot) await replaceSlot(house, dice, slot)
}

/** Loads a slot and signs it again; the signature may be stored after the slot is over. */
export async function replaceSlot(house: House, dice: Dice, slot: Slot): Promise<void> {
  const { twin } = house
  const answer = await ask(house, 'custody_load_slot', { slot: slot.id })
  const calls = callsOf(twin, slot)
  agree('custody_load_slot', loadedFrom(rowOf(answer)), loadedWire(house, slot))
  if (slot.state !== 'open' || slot.attempts.length >= attemptsMax) return
  const attempt = slot.attempts.length + 1
  const transaction: Transaction = {
    hash: newHash(house.chain),
    sender: slot.lane.address,
    nonce: slot.nonce,
    isDirect: slot.lane.kind === 'wallet',
    payments: calls.map(({ payment }) => payment),
  }
  await hold(house, dice, 'record replacement', () =>
    recordReplacement(house, dice, slot, attempt, transaction),
  )
}

function loadedFrom(row: Record<string, unknown> | undefined) {
  if (!row) return undefined
  const { lane, kind, nonce, attempts, calls } = row
  return { lane, kind, nonce, attempts, calls }
}

function loadedWire({ twin }: House, slot: Slot) {
  if (slot.state !== 'open') return undefined
  const { lane, nonce, attempts } = slot
  const calls = callsOf(twin, slot).map(callWire)
  return { lane: lane.address, kind: lane.kind, nonce, attempts: attempts.length, calls }
}

async function recordReplacement(
  house: House,
  dice: Dice,
  slot: Slot,
  attempt: number,
  transaction: Transaction,
): Promise<void> {
  const { hash } = transaction
  const question = { slot: slot.id, attempt, tx_hash: hash, raw: hash, ...gas }
  const answer = await ask(house, 'custody_record_replacement', question)
  const isKept = replace(house.twin, slot, attempt, hash)
  agree('custody_record_replacement', answer, [{ custody_record_replacement: isKept }])
  if (isKept) store(house, dice, transaction)
}

/** Sends stored bytes again, as housekeeping does with every slot that is open. */
async function sendStored(house: House, dice: Dice): Promise<void> {
  const open = house.twin.slots.filter(({ state, attempts }) => {
    return state === 'open' && attempts.length > 0
  })
  const hash = dice.anyOf(dice.anyOf(open)?.attempts ?? [])?.hash
  const transaction = hash === undefined ? undefined : house.stored.get(hash)
  if (transaction) broadcast(house, transaction)
}

export const custodyOperations: readonly Operation[] = [
  { name: 'finish work', weight: 8, run: finishWork },
  { name: 'claim', weight: 8, run: relayQueued },
  { name: 'replace', weight: 3, run: replaceOne },
  { name: 'send stored', weight: 5, run: sendStored },
  { name: 'withdraw', weight: 1, run: withdrawAny },
]
