/**
 * Takes slots of relayers from the ledger and signs their transactions. A transaction is stored before
 * it is given to anybody.
 */
import * as z from 'zod'
import { emptyMaxFeePerGasOf, maxFeePerGasOf, relayGas } from '../chains/evm/gas.ts'
import { findChain } from '../chains/registry.ts'
import { unbound } from '../db/database.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import { readEnvelope, withKey } from './accounts.ts'
import type {
  GasPayerSeen,
  RelayAnswer,
  RelayFees,
  RelayRequest,
  ReplaceRequest,
  SignedTransaction,
} from './port.ts'
import {
  type CallRow,
  callOf,
  callRow,
  encodeCall,
  type RelayCall,
  signRelay,
  unitsOf,
} from './relay-transaction.ts'

const wei = z.string().regex(/^[1-9][0-9]{0,30}$/)

/** Schema of the fees in a request. */
export const feesAsked = z.strictObject({
  maxFeePerGas: wei,
  maxPriorityFeePerGas: wei,
  dataFeeWei: z.string().regex(/^[0-9]{1,30}$/),
})

/**
 * Returns the most that a unit of gas may cost, so that no caller burns gas beyond the operator's
 * budget. A transaction without calls, which only uses up its nonce, may be dearer.
 */
function ceilingOf(
  { config }: Pick<World, 'config'>,
  chainId: number,
  calls: readonly unknown[],
): bigint {
  const chain = findChain(`eip155:${chainId}`)
  if (!chain) return 0n
  return calls.length > 0 ? maxFeePerGasOf(chain, config) : emptyMaxFeePerGasOf(chain, config)
}

/** Schema of the gas payers in a request. */
export const gasPayersSeen = z
  .array(z.strictObject({ address: z.string(), mined_nonce: z.int().nonnegative() }))
  .max(64)

/** Owner of the key that signs for a gas payer: a relayer, or the account whose wallet it is. */
const gasPayerOwner = z.literal('relayer').or(z.uuid())

/** Leased slot of a gas payer, with the owner of its key. `lease` proves that it is still held. */
export const leasedSlotRow = z.object({
  lease: z.uuid(),
  chain: z.int(),
  gas_payer: z.string(),
  nonce: z.int().nonnegative(),
  /** Calls, parsed one by one so that a bad one does not take the others with it. */
  calls: z.array(z.unknown()),
  envelope: z.unknown(),
  owner: gasPayerOwner,
})

/** Leased slot, with its calls as the ledger returns them. */
type LeasedSlotRow = z.output<typeof leasedSlotRow>

/** Leased slot, with the calls that go into it. */
type LeasedSlot = Omit<LeasedSlotRow, 'calls'> & { calls: readonly CallRow[] }

/** Transaction for a leased slot, and the arguments that store it. */
export type SignedSlot = {
  transaction: SignedTransaction
  stored: {
    lease: string
    calls: number
    tx_hash: string
    raw: string
    max_fee_per_gas: string
    max_priority_fee_per_gas: string
    cost_wei: string
  }
}

/** Signs the transaction for a leased slot, with the caller's own calls after those that waited. */
export async function signLeasedSlot(
  world: Pick<World, 'config'>,
  roots: Roots,
  slot: LeasedSlot,
  fees: RelayFees,
  ownCalls: readonly RelayCall[] = [],
): Promise<SignedSlot> {
  const { chain: chainId, gas_payer: gasPayer, nonce } = slot
  const calls = [...slot.calls.map(callOf), ...ownCalls]
  if (BigInt(fees.maxFeePerGas) > ceilingOf(world, chainId, calls)) {
    throw new Error('gas is dearer than the budget')
  }
  const binding = { account: slot.owner, address: gasPayer }
  const transaction = await withKey(roots, binding, readEnvelope(slot.envelope), (key) =>
    signRelay(key, { chainId, nonce, ...weiOf(fees), gasPayer, calls }),
  )
  const stored = storedTransaction(chainId, transaction, fees, unitsOf(calls))
  return { transaction, stored: { lease: slot.lease, calls: calls.length, ...stored } }
}

/** Converts a transaction that counts as so many calls to SQL arguments, with the most that it can cost. */
function storedTransaction(
  chainId: number,
  { hash, raw }: SignedTransaction,
  fees: RelayFees,
  calls: number,
) {
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  return {
    tx_hash: hash,
    raw,
    max_fee_per_gas: maxFeePerGas,
    max_priority_fee_per_gas: maxPriorityFeePerGas,
    cost_wei: costWei(chainId, fees, calls),
  }
}

/** Returns the most that a transaction of so many calls can cost, in wei. */
export function costWei(
  chainId: number,
  { maxFeePerGas, dataFeeWei }: RelayFees,
  calls: number,
): string {
  const dataFee = BigInt(Math.max(calls, 1)) * BigInt(dataFeeWei)
  return (relayGas(chainId, calls) * BigInt(maxFeePerGas) + dataFee).toString()
}

/** Converts fees to numbers. */
function weiOf({ maxFeePerGas, maxPriorityFeePerGas }: Omit<RelayFees, 'dataFeeWei'>) {
  return {
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
  }
}

const named = z.object({ payment: z.uuid() })

/** Sets aside the calls that cannot be carried. `own`: another call of the caller's goes with the rest. */
export async function setAsideBad(
  world: World,
  slot: LeasedSlotRow,
  hasOwnCall: boolean,
): Promise<LeasedSlot> {
  const { good, bad } = sortCalls(world, slot.calls)
  if (bad.length > 0) {
    const payments = bad.flatMap((call) => named.safeParse(call).data?.payment ?? [])
    const question = { lease: slot.lease, payments, own: hasOwnCall }
    await unbound(world.db).run('custody_set_aside', question)
  }
  return { ...slot, calls: good }
}

/** Separates the calls that can be put into a transaction from those that cannot, which are logged. */
function sortCalls(world: World, calls: readonly unknown[]) {
  const good: CallRow[] = []
  const bad: unknown[] = []
  for (const call of calls) {
    try {
      const read = callRow.parse(call)
      encodeCall(callOf(read))
      good.push(read)
    } catch (error) {
      const payment = named.safeParse(call).data?.payment ?? ''
      world.log({ work: 'custody', alarm: 'call_refused', payment, log: String(error) })
      bad.push(call)
    }
  }
  return { good, bad }
}

const relayRequest = z.strictObject({
  ...feesAsked.shape,
  chainId: z.int(),
  gasPayers: gasPayersSeen,
})
const replaceRequest = z.strictObject({ ...feesAsked.shape, slot: z.int() })

const sentRow = z.object({ sent: z.boolean(), queued: z.boolean() })

/** Takes what is queued, if a gas payer is free for it, and stores the transaction around it. */
export async function relayQueued(
  world: World,
  roots: Roots,
  request: RelayRequest,
): Promise<RelayAnswer> {
  const { chainId: chain, gasPayers: gas_payers, ...fees } = relayRequest.parse(request)
  const ledger = unbound(world.db)
  const slot = await leaseGoodSlot(world, { chain, gas_payers })
  if (!slot) return { queued: false }
  const { transaction, stored } = await signLeasedSlot(world, roots, slot, fees)
  const kept = await ledger.one('custody_record_claim', { chain, gas_payers, ...stored }, sentRow)
  return { ...(kept?.sent ? { transaction } : {}), queued: kept?.queued ?? false }
}

/** Number of leases in a row whose calls are all set aside; the next run continues. */
const badLeasesMax = 8

async function leaseGoodSlot(
  world: World,
  question: { chain: number; gas_payers: readonly GasPayerSeen[] },
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
  gas_payer: z.string(),
  nonce: z.int(),
  attempts: z.int(),
  /** True if its latest transaction carries a transfer that a freeze stopped: it must not be sent. */
  held: z.boolean(),
  max_fee_per_gas: z.string().nullable(),
  max_priority_fee_per_gas: z.string().nullable(),
  /** Calls that may still leave. */
  calls: z.array(z.unknown()),
  envelope: z.unknown(),
  owner: gasPayerOwner,
})

/**
 * Number of transactions that a slot gets for being stuck; each costs at least an eighth more than the
 * last. More are signed if the last must not be mined or is priced below the market, so that fees reported too
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
  const { chain, gas_payer: gasPayer, nonce, attempts, held } = row
  if (attempts < stuckAttemptsMax || held) return true
  const [fee, tip] = [BigInt(row.max_fee_per_gas ?? 0), BigInt(row.max_priority_fee_per_gas ?? 0)]
  const [wantedFee, wantedTip] = [BigInt(asked.maxFeePerGas), BigInt(asked.maxPriorityFeePerGas)]
  if (wantedFee > fee || wantedTip > tip) return true
  world.log({ alarm: 'slot_stuck', chain, gasPayer, nonce })
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
  const { chain: chainId, gas_payer: gasPayer, nonce, owner: account } = slot
  const calls = slot.calls.map(callOf)
  return withKey(roots, { account, address: gasPayer }, readEnvelope(slot.envelope), (key) =>
    signRelay(key, { chainId, nonce, ...weiOf(fees), gasPayer, calls }),
  )
}
