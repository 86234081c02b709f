/**
 * Follows relayed transactions: books the block of each and what its logs show of each payment, sends again
 * what a node dropped, replaces what is stuck at the same nonce, and gives calls back whose slot is lost.
 * Never makes a second authorization.
 */
import * as z from 'zod'
import type { Chain } from '../../chains/chain.ts'
import { broadcast } from '../../chains/evm/rpc/broadcast.ts'
import { findTransfer } from '../../chains/evm/rpc/logs.ts'
import { isBlockReplaced, type PlacedReceipt, readReceipts } from '../../chains/evm/use.ts'
import { addressSchema, hexSchema, wordSchema } from '../../chains/hex.ts'
import { assetOf } from '../../chains/registry.ts'
import type { SignedTransaction } from '../../custody/port.ts'
import { bigintText } from '../../money/row-fields.ts'
import type { World } from '../../world.ts'
import { paymentRow } from '../payment.ts'
import type { GasPayersSeen } from './gas-payers.ts'

/** Looks at slots of one chain, those of a gas payer in their order; returns which of them moved. */
export async function followSlots(
  world: World,
  chain: Chain,
  slots: readonly Slot[],
  seen: GasPayersSeen,
  lookAt: LookAt,
): Promise<boolean[]> {
  const receipts = await readSlots(world, chain, slots)
  const gasPayers = new Set(slots.map((slot) => slot.gas_payer))
  const end = world.deadline(lookMilliseconds)
  // An endpoint that is slow for one gas payer must not hold up the others.
  const moves = await Promise.all(
    [...gasPayers].map(async (gasPayer) => {
      const own = slots.filter((slot) => slot.gas_payer === gasPayer)
      return followGasPayerSlots(world, chain, own, { receipts, seen, lookAt, end })
    }),
  )
  return moves.flat()
}

/** Time limit of a look. What it gives back to the queue waits for its end, which an endpoint may delay. */
const lookMilliseconds = 25_000

type Known = {
  receipts: Map<Slot, PlacedReceipt | null>
  seen: GasPayersSeen
  lookAt: LookAt
  end: AbortSignal
}

async function followGasPayerSlots(
  world: World,
  chain: Chain,
  slots: readonly Slot[],
  { receipts, seen, lookAt, end }: Known,
): Promise<boolean[]> {
  const moves: boolean[] = []
  let isBehindOther = false
  for (const slot of slots) {
    const receipt = receipts.get(slot)
    // Its state is unknown or no time is left: the slot stays as it is.
    if (receipt === undefined || end.aborted) continue
    // One endpoint may hide that the slots before it are mined, while another counts them.
    const isFirst = !isBehindOther || seen.states.get(slot.gas_payer)?.highestNonce === slot.nonce
    if (!receipt && !isPassed(slot, seen)) isBehindOther = true
    try {
      moves.push(
        receipt
          ? await bookSlot(world, slot, asFarAsSafe(slot, receipt, seen), lookAt)
          : await followUnmined(world, chain, { ...slot, isFirst }, seen),
      )
    } catch (error) {
      // A slot that cannot be booked must not hold up the others.
      const log = error instanceof Error ? String(error.stack) : String(error)
      world.log({ operation: 'housekeeping', slot: slot.slot, log })
    }
  }
  return moves
}

/** A slot is final only where enough endpoints count its nonce: nothing looks at it again. */
function asFarAsSafe(slot: Slot, receipt: PlacedReceipt, { states }: GasPayersSeen): PlacedReceipt {
  const isSafe = (states.get(slot.gas_payer)?.safeNonce ?? 0) > slot.nonce
  return isSafe || receipt.finality !== 'finalized' ? receipt : { ...receipt, finality: 'safe' }
}

/** Reads the receipt of each slot: null if its transactions have no receipt, and no entry if that is unknown. */
async function readSlots(
  world: World,
  chain: Chain,
  slots: readonly Slot[],
): Promise<Map<Slot, PlacedReceipt | null>> {
  const hashes = slots.flatMap(({ attempts }) => attempts.map(({ tx_hash }) => tx_hash))
  const read = await readReceipts(world, chain, hashes)
  return new Map(
    slots.flatMap((slot): [Slot, PlacedReceipt | null][] => {
      const found = slot.attempts.map(({ tx_hash }) => read.get(tx_hash))
      const receipt = found.find((one) => one != null)
      const isKnown = found.every((one) => one !== undefined)
      return receipt || isKnown ? [[slot, receipt ?? null]] : []
    }),
  )
}

/** Follows a slot without a receipt: reorganized away, lost to a foreign transaction, or not yet mined. */
async function followUnmined(
  world: World,
  chain: Chain,
  slot: Slot & { isFirst: boolean },
  seen: GasPayersSeen,
): Promise<boolean> {
  if (slot.state === 'open') {
    if (!isPassed(slot, seen)) return pushSlot(world, chain, slot, seen)
    // Before the nonce is safe, a missing receipt may come from a node that lags behind.
    const isSafe = (seen.states.get(slot.gas_payer)?.safeNonce ?? 0) > slot.nonce
    return isSafe && requeue(world, slot, true)
  }
  const { block_number: number, block_hash: hash } = slot
  if (number === null || hash === null) return false
  // The receipt that one endpoint showed was false if none counts the nonce.
  const isUncounted =
    (seen.states.get(slot.gas_payer)?.highestNonce ?? slot.nonce + 1) <= slot.nonce
  const isGone = isUncounted || (await isBlockReplaced(world, chain, { number, hash }))
  if (isGone !== true) return false
  const question = { slot: slot.slot, block_hash: hash }
  const isReopened = (await world.db.call('housekeeping_reopen_slot', question)) === true
  if (isReopened) await followUnmined(world, chain, { ...slot, state: 'open' }, seen)
  return isReopened
}

/** True if enough endpoints count a mined transaction at its nonce, so that another one is of no use. */
function isPassed({ gas_payer: gasPayer, nonce }: Slot, { states }: GasPayersSeen): boolean {
  return (states.get(gasPayer)?.agreedNonce ?? 0) > nonce
}

const attemptRow = z.object({
  tx_hash: wordSchema,
  raw: hexSchema,
  max_fee_per_gas: bigintText,
  max_priority_fee_per_gas: bigintText,
  age_seconds: z.int(),
  /** True if it carries a transfer that a freeze has stopped, so that it must not be sent. */
  held: z.boolean(),
})

/** Slot that is not final, with everything that was signed for it. */
export const slotRow = z.object({
  slot: z.int(),
  chain: z.int(),
  gas_payer: addressSchema,
  kind: z.enum(['relayer', 'wallet']),
  nonce: z.int(),
  state: z.enum(['open', 'mined']),
  block_number: z.int().nullable(),
  block_hash: z.string().nullable(),
  attempts: z.array(attemptRow),
  /** Payments whose transfers it carries. */
  payments: z.array(paymentRow.omit({ terms: true, delivery: true })),
})

/** Parsed slot. */
export type Slot = z.output<typeof slotRow>

/** Function that notes another transaction that paid it; true if none did. */
type LookAt = (payment: SlotPayment) => Promise<boolean>

/** Books a receipt; false if everything in it is booked already. */
async function bookSlot(
  world: World,
  slot: Slot,
  receipt: PlacedReceipt,
  lookAt: LookAt,
): Promise<boolean> {
  const settled = slot.payments.flatMap((payment) => {
    const logIndex = settledIn(payment, receipt)
    return logIndex === undefined ? [] : [{ payment: payment.id, log_index: Number(logIndex) }]
  })
  // A transfer that is missing may be in another transaction: the token lets an authorization through once,
  // whoever brings it.
  const absent = slot.payments.filter(({ id }) => !settled.some(({ payment }) => payment === id))
  const isWrong = absent.some((payment) => isBookedIn(payment, receipt))
  if (isBooked(slot, receipt) && !isWrong) return false
  const missing = absent.filter((payment) => {
    return payment.state === 'signed' || isBookedIn(payment, receipt)
  })
  const unpaid: string[] = []
  for (const payment of missing) {
    if (await lookAt(payment)) unpaid.push(payment.id)
  }
  await world.db.call('housekeeping_book_slot', {
    slot: slot.slot,
    tx_hash: receipt.transactionHash,
    block_number: Number(receipt.blockNumber),
    block_hash: receipt.blockHash,
    finality: receipt.finality,
    settled,
    unpaid,
  })
  return true
}

function isBooked(slot: Slot, { blockHash, finality }: PlacedReceipt): boolean {
  const isPlaced = slot.state === 'mined' && slot.block_hash === blockHash
  const isLabelled = (payment: SlotPayment) =>
    payment.state !== 'settled' || payment.finality === finality
  return isPlaced && finality !== 'finalized' && slot.payments.every(isLabelled)
}

/** True if a payment is booked as settled in a receipt's block. */
function isBookedIn({ state, block_hash }: SlotPayment, { blockHash }: PlacedReceipt): boolean {
  return state === 'settled' && block_hash === blockHash
}

/** Payment that a slot carries. */
export type SlotPayment = Slot['payments'][number]

function settledIn(payment: SlotPayment, receipt: PlacedReceipt): bigint | undefined {
  const { wallet: from, payee: to, amount_atomic: value, authorization_nonce: nonce } = payment
  if (receipt.status !== 1n || nonce === null) return undefined
  const expected = { from, to, value, authorizationNonce: nonce }
  return findTransfer(receipt.logs, assetOf(payment).token, expected)
}

/** Seconds after which a gas payer's next transaction that is not mined is replaced at a higher price. */
const stuckSeconds = 60

/**
 * Sends, replaces or gives up the slot; true if the slot changed. `isFirst` is true if no other slot of the
 * gas payer comes before it.
 */
async function pushSlot(
  world: World,
  chain: Chain,
  slot: Slot & { isFirst: boolean },
  { states, relay }: GasPayersSeen,
): Promise<boolean> {
  const gasPayer = states.get(slot.gas_payer)
  if (!gasPayer) return false
  const latest = slot.attempts.at(-1)
  const isNext = slot.isFirst && gasPayer.highestNonce >= slot.nonce
  const isBehind = latest !== undefined && latest.max_fee_per_gas < BigInt(relay.maxFeePerGas) / 2n
  const isOld = latest !== undefined && latest.age_seconds >= stuckSeconds
  // If an endpoint counts the nonce as used, the transaction may not be stuck at all.
  const isStuck = isOld && (gasPayer.highestNonce <= slot.nonce || isBelow(latest, relay))
  if (!latest || latest.held || (isNext && (isBehind || isStuck))) {
    return replace(world, chain, slot, relay)
  }
  const outcome = await sendAgain(world, chain, { hash: latest.tx_hash, raw: latest.raw })
  if (outcome === 'underpriced' || outcome === 'held') return replace(world, chain, slot, relay)
  if (outcome !== 'unfunded' || slot.kind === 'wallet' || slot.payments.length === 0) return false
  return requeue(world, slot, false)
}

/** True if a new transaction would offer more, in either fee. */
function isBelow(latest: Slot['attempts'][number], relay: GasPayersSeen['relay']): boolean {
  const { max_fee_per_gas: fee, max_priority_fee_per_gas: tip } = latest
  return fee < BigInt(relay.maxFeePerGas) || tip < BigInt(relay.maxPriorityFeePerGas)
}

async function replace(
  world: World,
  chain: Chain,
  { slot, attempts }: Slot,
  { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei }: GasPayersSeen['relay'],
): Promise<boolean> {
  const fees = { maxFeePerGas, maxPriorityFeePerGas, dataFeeWei }
  const signed = await world.custody?.replace({ slot, ...fees })
  const latest = attempts.at(-1)
  if (signed) await broadcast(world, chain, signed.raw)
  else if (latest) await sendAgain(world, chain, { hash: latest.tx_hash, raw: latest.raw })
  return signed !== undefined
}

/** Sends a transaction again; returns what endpoints said, or `held` if a freeze has stopped a transfer in it. */
async function sendAgain(world: World, chain: Chain, { hash, raw }: SignedTransaction) {
  if ((await world.db.call('housekeeping_may_resend', { tx_hash: hash })) !== true) return 'held'
  const { outcome } = await broadcast(world, chain, raw)
  return outcome
}

/** Gives its calls back to the queue. `lost` is true once another transaction holds the nonce. */
async function requeue(world: World, { slot }: Slot, lost: boolean): Promise<boolean> {
  return (await world.db.call('housekeeping_requeue_slot', { slot, lost })) === true
}
