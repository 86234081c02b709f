/**
 * Signs for lanes what is authorized already: the next transaction of a queue, or a replacement in the same
 * slot of one that is not mined. A wallet that pays its own gas is a lane like a relayer's. Nothing here
 * can authorize a payment or change one.
 */
import * as z from 'zod'
import { unbound } from '../db/database.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import type { CallRow } from './call-row.ts'
import { callOf } from './call-row.ts'
import type { LeasedSlot } from './claim.ts'
import {
  ceilingOf,
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
import { signRelay, unitsOf } from './relay-transaction.ts'
import { setAsideBad, sortCalls } from './set-aside.ts'

const relayRequest = z.strictObject({ ...feesAsked.shape, chainId: z.int(), lanes: lanesSeen })
const replaceRequest = z.strictObject({ ...feesAsked.shape, slot: z.int() })

const sentRow = z.object({ sent: z.boolean(), queued: z.boolean() })

/** Takes what is queued, if a lane is free for it, and stores the transaction around it. */
export async function relayQueued(
  world: World,
  roots: Roots,
  request: RelayRequest,
): Promise<RelayAnswer> {
  const { chainId: chain, lanes, ...fees } = relayRequest.parse(request)
  const ledger = unbound(world.db)
  const slot = await leaseGoodSlot(world, { chain, lanes })
  if (!slot) return { queued: false }
  const { transaction, stored } = await signLeasedSlot(world, roots, slot, fees)
  const kept = await ledger.one('custody_record_claim', { chain, lanes, ...stored }, sentRow)
  return { ...(kept?.sent ? { transaction } : {}), queued: kept?.queued ?? false }
}

/** Number of leases in a row whose calls are all set aside; the next run continues. */
const badLeasesMax = 8

async function leaseGoodSlot(
  world: World,
  question: { chain: number; lanes: readonly LaneSeen[] },
): Promise<LeasedSlot | undefined> {
  const ledger = unbound(world.db)
  for (let tries = 0; tries < badLeasesMax; tries += 1) {
    const claimed = await ledger.one('custody_claim', question, z.object({ claim: leasedSlotRow }))
    if (!claimed) return undefined
    const good = await setAsideBad(world, claimed.claim, false)
    if (good.calls.length > 0) return good
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
 * calls that may still leave. If its latest transaction must not be mined and its calls are too dear now, it
 * carries none.
 */
export async function replaceSlot(
  world: World,
  roots: Roots,
  request: ReplaceRequest,
): Promise<SignedTransaction | undefined> {
  const { slot: id, ...asked } = replaceRequest.parse(request)
  const row = await unbound(world.db).one('custody_load_slot', { slot: id }, loadedSlotRow)
  if (!row || !mayReplace(world, row, asked)) return undefined
  const full = { ...row, calls: sortCalls(world, row.calls).good }
  for (const slot of row.held ? [full, { ...full, calls: [] }] : [full]) {
    const fees = priced(world, slot, asked)
    if (!fees) continue
    const transaction = await signSlot(roots, slot, fees)
    if (await storeReplacement(world, id, slot, { transaction, fees })) return transaction
  }
  return undefined
}

/** Stores a replacement; false if the ledger does not let it have the slot. */
async function storeReplacement(
  world: World,
  id: number,
  { chain, attempts, calls }: LoadedSlot,
  { transaction, fees }: { transaction: SignedTransaction; fees: RelayFees },
): Promise<boolean> {
  const kept = await world.db.call('custody_record_replacement', {
    slot: id,
    attempt: attempts + 1,
    ...storedTransaction(chain, transaction, fees, unitsOf(calls.map(callOf))),
    carries: calls.map(({ payment }) => payment),
  })
  return kept === true
}

type LoadedSlot = Omit<z.output<typeof loadedSlotRow>, 'calls'> & { calls: readonly CallRow[] }

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
