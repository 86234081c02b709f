/**
 * Signs for lanes what is authorized already: the next transaction of a queue, or a replacement in the same
 * slot of one that is not mined. A wallet that pays its own gas is a lane like a relayer's. Nothing here
 * can authorize a payment or change one.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import { affordCancels, callsPaidFor, cancelsIn } from './affordable.ts'
import type { CallRow } from './call-row.ts'
import { callOf, chargeRow } from './call-row.ts'
import type { LeasedSlot } from './claim.ts'
import {
  ceilingOf,
  costsOn,
  costWei,
  feesAsked,
  laneOwner,
  lanesSeen,
  leasedSlotRow,
  signLeasedSlot,
  storedTransaction,
  weiOf,
} from './claim.ts'
import { readEnvelope, withKey } from './envelope.ts'
import type {
  LaneSeen,
  RelayAnswer,
  RelayFees,
  RelayRequest,
  ReplaceRequest,
  SignedTransaction,
} from './port.ts'
import { cancelsKept } from './port.ts'
import { signRelay, unitsOf } from './relay-transaction.ts'
import { setAsideBad, setAsideUnpaid, sortCalls } from './set-aside.ts'

const relayRequest = z.strictObject({ ...feesAsked.shape, chainId: z.int(), lanes: lanesSeen })
const replaceRequest = z.strictObject({ ...feesAsked.shape, slot: z.int() })

const sentRow = z.object({ sent: z.boolean(), queued: z.boolean() })

/** Takes what is queued, if a lane is free for it, and stores the transaction around it. */
export async function relayQueued(
  world: World,
  roots: Roots,
  request: RelayRequest,
): Promise<RelayAnswer> {
  const { chainId: chain, lanes, ...asked } = relayRequest.parse(request)
  const ledger = unbound(world.db)
  const claimed = await leaseGoodSlot(world, { chain, lanes }, asked)
  if (!claimed) return { queued: false }
  const { claim: slot, fees } = claimed
  const { transaction, stored } = await signLeasedSlot(world, roots, slot, fees)
  const kept = await ledger.one('custody_record_claim', { chain, ...stored }, sentRow)
  return { ...(kept?.sent ? { transaction } : {}), queued: kept?.queued ?? false }
}

/** Number of leases in a row whose calls are all set aside; the next run continues. */
const badLeasesMax = 8

async function leaseGoodSlot(
  world: World,
  question: { chain: number; lanes: readonly LaneSeen[] },
  asked: RelayFees,
): Promise<{ claim: LeasedSlot; fees: RelayFees } | undefined> {
  const ledger = unbound(world.db)
  const costOf = costsOn(question.chain)
  for (let tries = 0; tries < badLeasesMax; tries += 1) {
    const claimed = await ledger.one('custody_claim', question, z.object({ claim: leasedSlotRow }))
    if (!claimed) return undefined
    const good = await setAsideBad(world, claimed.claim, false)
    if (good.calls.length === 0) continue
    const paid = await setAsideUnpaid(world, good, asked, { own: false, costOf })
    if (paid.claim.calls.length > 0) return paid
  }
  return undefined
}

const loadedSlotRow = z.object({
  chain: z.int(),
  lane: z.string(),
  nonce: z.int(),
  attempts: z.int(),
  /** True if its latest transaction carries a transfer that a freeze stopped: it must not be sent. */
  held: z.boolean(),
  max_fee_per_gas: z.string().nullable(),
  max_priority_fee_per_gas: z.string().nullable(),
  /** Calls that may still leave. */
  calls: z.array(z.unknown()),
  charges: z.array(chargeRow),
  /** True if a cancellation waits behind it in its lane. */
  blocks: z.boolean(),
  /** True if calls of several accounts are in it or wait behind it. */
  delays: z.boolean(),
  envelope: z.unknown(),
  owner: laneOwner,
})

/**
 * Number of transactions that a slot gets for being stuck; each costs at least an eighth more than the
 * last. More are signed if the last must not be mined or is priced below the market, so that fees told too
 * low until now do not keep the slot stuck. As each is dearer than the last, they end at the ceiling.
 */
const stuckAttemptsMax = 12

/**
 * Signs a slot again, at the asked fees or an eighth above the last ones if that is more, with those of its
 * calls that may still leave and are paid for.
 */
export async function replaceSlot(
  world: World,
  roots: Roots,
  request: ReplaceRequest,
): Promise<SignedTransaction | undefined> {
  const { slot: id, ...asked } = replaceRequest.parse(request)
  const row = await unbound(world.db).one('custody_load_slot', { slot: id }, loadedSlotRow)
  if (!row || !mayReplace(world, row, asked)) return undefined
  const all = { ...row, calls: sortCalls(world, row.calls).good }
  const stopping = { ...all, calls: all.calls.filter(({ kind }) => kind === 'cancel') }
  // Transfers that are too dear give way to a cancellation in their slot or behind it, and stopped ones to
  // nothing.
  const isStopping = row.held || all.blocks || stopping.calls.length > 0
  for (const laden of isStopping ? [all, stopping] : [all]) {
    const fees = priced(world, laden, asked)
    if (!fees) continue
    const { slot, price } = paidFor(laden, fees)
    // A cancellation that is out stays: what the account has left pays for it as it is. Only if it would
    // delay others, it gives way and waits for another transaction.
    const mayStay = !row.held && !row.delays
    if (mayStay && cancelsIn(slot.calls) < cancelsIn(laden.calls)) return undefined
    const transaction = await signSlot(roots, slot, price)
    if (await storeReplacement(world, id, slot, { transaction, price })) return transaction
  }
  return undefined
}

/** Stores a replacement; false if the ledger does not let it have the slot. */
async function storeReplacement(
  world: World,
  id: number,
  { chain, attempts, calls }: LoadedSlot,
  { transaction, price }: { transaction: SignedTransaction; price: RelayFees },
): Promise<boolean> {
  const kept = await world.db.call('custody_record_replacement', {
    slot: id,
    attempt: attempts + 1,
    ...storedTransaction(chain, transaction, price, unitsOf(calls.map(callOf))),
    carries: paymentsOf(calls, 'transfer'),
    cancels: paymentsOf(calls, 'cancel'),
    kept_wei: (cancelsKept * BigInt(costWei(chain, price, 1))).toString(),
  })
  return kept === true
}

function paymentsOf(calls: readonly CallRow[], kind: CallRow['kind']): string[] {
  return calls.filter((call) => call.kind === kind).map(({ payment }) => payment)
}

type LoadedSlot = Omit<z.output<typeof loadedSlotRow>, 'calls'> & { calls: readonly CallRow[] }

/** Transactions of a slot that delays others until a cancellation that is not paid for gives way. */
const lowAttemptsMax = 3

/**
 * Returns the slot with the calls paid for at these fees, or as close above its last ones as can be. One that
 * delays others is priced lower only twice, and only if all its cancellations can stay in it then.
 */
function paidFor(slot: LoadedSlot, asked: RelayFees): { slot: LoadedSlot; price: RelayFees } {
  const costOf = (at: RelayFees, count: number) => costsOn(slot.chain)(raised(at, slot), count)
  const lowest = affordCancels(slot.calls, slot.charges, asked, costOf)
  const mayBeLow =
    slot.attempts < lowAttemptsMax && cancelsIn(lowest.calls) === cancelsIn(slot.calls)
  const { calls, fees } =
    !slot.delays || mayBeLow
      ? lowest
      : {
          calls: callsPaidFor(slot.calls, slot.charges, (count) => costOf(asked, count)),
          fees: asked,
        }
  return { slot: { ...slot, calls }, price: raised(fees, slot) }
}

function mayReplace(world: World, row: z.output<typeof loadedSlotRow>, asked: RelayFees): boolean {
  const { chain, lane, nonce, attempts, held } = row
  if (attempts < stuckAttemptsMax || held) return true
  const [fee, tip] = [BigInt(row.max_fee_per_gas ?? 0), BigInt(row.max_priority_fee_per_gas ?? 0)]
  const [wantedFee, wantedTip] = [BigInt(asked.maxFeePerGas), BigInt(asked.maxPriorityFeePerGas)]
  if (wantedFee > fee || wantedTip > tip) return true
  world.log({ alarm: 'place_stuck', chain, lane, nonce })
  return false
}

/** Returns the fees of a slot; undefined if they exceed the ceiling for its calls. */
function priced(world: World, slot: LoadedSlot, asked: RelayFees): RelayFees | undefined {
  const ceiling = ceilingOf(world, slot.chain, slot.calls)
  const fees = raised(capped(asked, ceiling), slot)
  return BigInt(fees.maxFeePerGas) <= ceiling ? fees : undefined
}

function capped({ maxFeePerGas, maxPriorityFeePerGas, dataFeeWei }: RelayFees, ceiling: bigint) {
  const atMost = (wei: string) => (BigInt(wei) < ceiling ? wei : ceiling.toString())
  return {
    maxFeePerGas: atMost(maxFeePerGas),
    maxPriorityFeePerGas: atMost(maxPriorityFeePerGas),
    dataFeeWei,
  }
}

/** Raises both fees to an eighth above the last; nodes want a tenth in both (geth's price bump). */
function raised(asked: RelayFees, slot: LoadedSlot): RelayFees {
  const raise = (wanted: string, last: string | null) => {
    const least = last === null ? 0n : (BigInt(last) * 9n) / 8n + 1n
    return (BigInt(wanted) > least ? BigInt(wanted) : least).toString()
  }
  return {
    maxFeePerGas: raise(asked.maxFeePerGas, slot.max_fee_per_gas),
    maxPriorityFeePerGas: raise(asked.maxPriorityFeePerGas, slot.max_priority_fee_per_gas),
    dataFeeWei: asked.dataFeeWei,
  }
}

function signSlot(roots: Roots, slot: LoadedSlot, fees: RelayFees): Promise<SignedTransaction> {
  const { chain: chainId, lane, nonce, owner: account } = slot
  const calls = slot.calls.map(callOf)
  return withKey(roots, { account, address: lane }, readEnvelope(slot.envelope), (key) =>
    signRelay(key, { chainId, nonce, ...weiOf(fees), lane, calls }),
  )
}
