/**
 * The watch over payments: what a look at the chain shows, and how it is booked. Look and booking are
 * separate steps: others may come in between, and then the booked fact was true when it was seen.
 */
import type { ModelChain } from './chain.ts'
import { finalityOf, finalOf, paidIn } from './chain.ts'
import type { House } from './house.ts'
import { agree, ask } from './house.ts'
import { fieldsOf } from './ledger.ts'
import type { Proof } from './settlement.ts'
import * as settlement from './settlement.ts'
import type { Payment } from './state.ts'
import { isLive } from './state.ts'
import { paymentWire } from './wire.ts'

/** Booking that follows from a look. */
export type Step = (() => Promise<void>) | undefined

export function proofOf(chain: ModelChain, payment: Payment): Proof | undefined {
  const paid = paidIn(chain, payment)
  if (!paid) return undefined
  const { hash, log, block } = paid
  const finality = finalityOf(chain, block.number)
  return { hash, log, block: block.number, blockHash: block.hash, finality }
}

/** Returns the booking for a payment that the chain shows now. */
export function judgePayment(house: House, payment: Payment): Step {
  const { chain } = house
  const proof = proofOf(chain, payment)
  if (proof) return isBooked(payment, proof) ? undefined : () => settle(house, payment, proof)
  if (payment.state === 'settled') {
    const { place } = payment
    const isGone = place && chain.blocks[place.block]?.hash !== place.hash
    return isGone ? () => reorg(house, payment, place.hash) : undefined
  }
  const end = endOf(chain, payment)
  return end && isLive(payment) ? () => release(house, payment, end) : undefined
}

function isBooked({ state, place, finality }: Payment, proof: Proof): boolean {
  return state === 'settled' && place?.hash === proof.blockHash && finality === proof.finality
}

/** Returns why a payment that is not on the chain never will be, if that is certain. */
function endOf(chain: ModelChain, payment: Payment): string | undefined {
  const final = chain.blocks[finalOf(chain)]
  const isOver = final !== undefined && final.at >= (payment.validBefore ?? 0)
  return payment.nonce !== null && isOver ? 'the authorization expired unused' : undefined
}

export async function settle(house: House, payment: Payment, proof: Proof): Promise<void> {
  const { hash: tx_hash, block: block_number, blockHash: block_hash, log, finality } = proof
  const place = { tx_hash, block_number, block_hash, logs: [{ tx_hash, log_index: log }], finality }
  const answer = await ask(house, 'housekeeping_settle', { payment: payment.id, ...place })
  agreeRow(house, 'housekeeping_settle', answer, settlement.settle(house.twin, payment, proof))
}

async function reorg(house: House, payment: Payment, gone: string): Promise<void> {
  const answer = await ask(house, 'housekeeping_reorg', { payment: payment.id, block_hash: gone })
  agreeRow(house, 'housekeeping_reorg', answer, settlement.reorg(house.twin, payment, gone))
}

export async function release(house: House, payment: Payment, reason: string): Promise<void> {
  const question = { payment: payment.id, reason, alone: false }
  const answer = await ask(house, 'housekeeping_release', question)
  const ended = settlement.release(house.twin, payment, reason)
  agreeRow(house, 'housekeeping_release', answer, ended)
}

function agreeRow(
  { twin }: House,
  name: string,
  answer: Awaited<ReturnType<typeof ask>>,
  payment: Payment | undefined,
): void {
  agree(name, answer, payment ? [{ payment_row: paymentWire(twin, payment) }] : [])
}

/** Closes what is over and returns the payments that are open. */
export async function listOpen(house: House): Promise<Payment[]> {
  const answer = await ask(house, 'housekeeping_open', { batch: 1000 })
  const rows = Array.isArray(answer) ? answer.map((row) => fieldsOf(row['payment_row'])) : []
  const told = new Map(rows.map((row) => [String(row['id']), row]))
  const open = settlement.openPayments(house.twin)
  const wanted = open.map((one) => paymentWire(house.twin, one))
  agree('housekeeping_open', Object.fromEntries(told), byId(wanted))
  return open
}

const byId = (rows: { id: string }[]) => Object.fromEntries(rows.map((row) => [row.id, row]))
