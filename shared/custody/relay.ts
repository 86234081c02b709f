/**
 * Signs for lanes what is authorized already: the next transaction of a queue, or a replacement
 * of one that is not mined, in the same place. A wallet that pays its own gas is a lane like a
 * relayer's. Nothing here can authorize a payment or change one.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import { affordCancels, cancelsIn } from './affordable.ts'
import type { CallRow } from './call-row.ts'
import { callOf, chargeRow } from './call-row.ts'
import type { Claim } from './claim.ts'
import {
  ceilingOf,
  claimRow,
  costsOn,
  feesAsked,
  laneOwner,
  lanesSeen,
  signClaim,
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
import { signRelay } from './relay-transaction.ts'
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
  const claimed = await claimGood(world, { chain, lanes }, asked)
  if (!claimed) return { queued: false }
  const { claim, fees } = claimed
  const { transaction, stored } = await signClaim(world, roots, claim, fees)
  const kept = await ledger.one('custody_record_claim', { chain, ...stored }, sentRow)
  return { ...(kept?.sent ? { transaction } : {}), queued: kept?.queued ?? false }
}

/** Claims of nothing but calls that are set aside in a row; the next run goes on. */
const badClaimsMax = 8

async function claimGood(
  world: World,
  question: { chain: number; lanes: readonly LaneSeen[] },
  asked: RelayFees,
): Promise<{ claim: Claim; fees: RelayFees } | undefined> {
  const ledger = unbound(world.db)
  const costOf = costsOn(question.chain)
  for (let tries = 0; tries < badClaimsMax; tries += 1) {
    const claimed = await ledger.one('custody_claim', question, z.object({ claim: claimRow }))
    if (!claimed) return undefined
    const good = await setAsideBad(world, claimed.claim, false)
    if (good.calls.length === 0) continue
    const paid = await setAsideUnpaid(world, good, asked, { own: false, costOf })
    if (paid.claim.calls.length > 0) return paid
  }
  return undefined
}

const slotRow = z.object({
  chain: z.int(),
  lane: z.string(),
  nonce: z.int(),
  attempts: z.int(),
  /** Its latest transaction carries what nobody may send any more. */
  held: z.boolean(),
  max_fee_per_gas: z.string().nullable(),
  max_priority_fee_per_gas: z.string().nullable(),
  /** Those that may leave still. */
  calls: z.array(z.unknown()),
  charges: z.array(chargeRow),
  /** A cancellation waits behind it in its lane. */
  blocks: z.boolean(),
  envelope: z.unknown(),
  owner: laneOwner,
})

/**
 * As many transactions as a slot gets for being stuck; each costs at least an eighth more than the last.
 * More are signed where the last must not be mined, or is priced below the market: whoever told fees too
 * low until now must not have the slot stay so. As each is dearer than the last, they end at the ceiling.
 */
const stuckAttemptsMax = 12

/**
 * Signs a slot again, at the asked fees or an eighth above the last ones if that is more, with those
 * of its calls that may leave still and are paid for.
 */
export async function replaceSlot(
  world: World,
  roots: Roots,
  request: ReplaceRequest,
): Promise<SignedTransaction | undefined> {
  const { slot: id, ...asked } = replaceRequest.parse(request)
  const row = await unbound(world.db).one('custody_load_slot', { slot: id }, slotRow)
  if (!row || !mayReplace(world, row, asked)) return undefined
  const all = { ...row, calls: sortCalls(world, row.calls).good }
  const stopping = { ...all, calls: all.calls.filter(({ kind }) => kind === 'cancel') }
  const [laden, fees] =
    priced(world, all, asked) ?? (all.blocks ? priced(world, stopping, asked) : undefined) ?? []
  if (!laden || !fees) return undefined
  const { slot, price } = paidFor(laden, fees)
  // What the account has left pays for the cancellation as it is out: that one stays.
  if (!row.held && cancelsIn(slot.calls) < cancelsIn(laden.calls)) return undefined
  const transaction = await signSlot(roots, slot, price)
  const kept = await world.db.call('custody_record_replacement', {
    slot: id,
    attempt: slot.attempts + 1,
    ...storedTransaction(slot.chain, transaction, price, slot.calls.length),
    carries: slot.calls.filter(({ kind }) => kind === 'transfer').map(({ payment }) => payment),
  })
  return kept === true ? transaction : undefined
}

type Slot = Omit<z.output<typeof slotRow>, 'calls'> & { calls: readonly CallRow[] }

/** The slot with the calls that are paid for at these fees, or as little above its last ones as can be. */
function paidFor(slot: Slot, asked: RelayFees): { slot: Slot; price: RelayFees } {
  const costOf = costsOn(slot.chain)
  const { calls, fees } = affordCancels(slot.calls, slot.charges, asked, (at, count) =>
    costOf(raised(at, slot), count),
  )
  return { slot: { ...slot, calls }, price: raised(fees, slot) }
}

function mayReplace(world: World, row: z.output<typeof slotRow>, asked: RelayFees): boolean {
  const { chain, lane, nonce, attempts, held } = row
  if (attempts < stuckAttemptsMax || held) return true
  const [fee, tip] = [BigInt(row.max_fee_per_gas ?? 0), BigInt(row.max_priority_fee_per_gas ?? 0)]
  const [wantedFee, wantedTip] = [BigInt(asked.maxFeePerGas), BigInt(asked.maxPriorityFeePerGas)]
  if (wantedFee > fee || wantedTip > tip) return true
  world.log({ alarm: 'place_stuck', chain, lane, nonce })
  return false
}

/** The slot with its fees; undefined where it is dearer than what is paid for its calls. */
function priced(world: World, slot: Slot, asked: RelayFees): [Slot, RelayFees] | undefined {
  const ceiling = ceilingOf(world, slot.chain, slot.calls)
  const fees = raised(capped(asked, ceiling), slot)
  return BigInt(fees.maxFeePerGas) <= ceiling ? [slot, fees] : undefined
}

function capped({ maxFeePerGas, maxPriorityFeePerGas, dataFeeWei }: RelayFees, ceiling: bigint) {
  const atMost = (wei: string) => (BigInt(wei) < ceiling ? wei : ceiling.toString())
  return {
    maxFeePerGas: atMost(maxFeePerGas),
    maxPriorityFeePerGas: atMost(maxPriorityFeePerGas),
    dataFeeWei,
  }
}

/** Nodes take a replacement that is a tenth dearer in both fees (geth's price bump); this is more. */
function raised(asked: RelayFees, slot: Slot): RelayFees {
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

function signSlot(roots: Roots, slot: Slot, fees: RelayFees): Promise<SignedTransaction> {
  const { chain: chainId, lane, nonce, owner: account } = slot
  const calls = slot.calls.map(callOf)
  return withKey(roots, { account, address: lane }, readEnvelope(slot.envelope), (key) =>
    signRelay(key, { chainId, nonce, ...weiOf(fees), lane, calls }),
  )
}
