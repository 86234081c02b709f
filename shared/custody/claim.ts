/**
 * Parses a slot of a lane with its calls, as the ledger leases it to custody, and signs the transaction for
 * it. The transaction must be stored before it is given to anybody.
 */
import * as z from 'zod'
import { relayGas } from '../chains/evm/gas/fees.ts'
import { emptyMaxFeePerGasOf, maxFeePerGasOf } from '../chains/evm/gas/gas-budget.ts'
import { findChain } from '../chains/registry.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import type { CallRow } from './call-row.ts'
import { callOf } from './call-row.ts'
import { readEnvelope, withKey } from './envelope.ts'
import type { RelayFees, SignedTransaction } from './port.ts'
import type { RelayCall } from './relay-transaction.ts'
import { signRelay, unitsOf } from './relay-transaction.ts'

const wei = z.string().regex(/^[1-9][0-9]{0,30}$/)

/** Schema of the fees in a request. */
export const feesAsked = z.strictObject({
  maxFeePerGas: wei,
  maxPriorityFeePerGas: wei,
  dataFeeWei: z.string().regex(/^[0-9]{1,30}$/),
})

/**
 * Returns the most that a unit of gas may cost, so that no caller burns a lane's gas beyond the operator's
 * budget. A transaction without calls, which only uses up its nonce, may be dearer.
 */
export function ceilingOf(
  { config }: Pick<World, 'config'>,
  chainId: number,
  calls: readonly unknown[],
): bigint {
  const chain = findChain(`eip155:${chainId}`)
  if (!chain) return 0n
  return calls.length > 0 ? maxFeePerGasOf(chain, config) : emptyMaxFeePerGasOf(chain, config)
}

/** Schema of the lanes in a request. */
export const lanesSeen = z
  .array(z.strictObject({ address: z.string(), mined_nonce: z.int().nonnegative() }))
  .max(64)

/** Owner of the key that signs for a lane: a relayer, or the account whose wallet it is. */
export const laneOwner = z.literal('relayer').or(z.uuid())

/** Leased slot in a lane of this owner. `lease` proves that it is still held. */
export const leasedSlotRow = z.object({
  lease: z.uuid(),
  chain: z.int(),
  lane: z.string(),
  nonce: z.int().nonnegative(),
  /** Calls, parsed one by one so that a bad one does not take the others with it. */
  calls: z.array(z.unknown()),
  envelope: z.unknown(),
  owner: laneOwner,
})

/** Leased slot, with its calls as the ledger returns them. */
export type LeasedSlotRow = z.output<typeof leasedSlotRow>

/** Leased slot, with the calls that go into it. */
export type LeasedSlot = Omit<LeasedSlotRow, 'calls'> & { calls: readonly CallRow[] }

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
  const { chain: chainId, lane, nonce } = slot
  const calls = [...slot.calls.map(callOf), ...ownCalls]
  if (BigInt(fees.maxFeePerGas) > ceilingOf(world, chainId, calls)) {
    throw new Error('gas is dearer than the budget')
  }
  const binding = { account: slot.owner, address: lane }
  const transaction = await withKey(roots, binding, readEnvelope(slot.envelope), (key) =>
    signRelay(key, { chainId, nonce, ...weiOf(fees), lane, calls }),
  )
  const stored = storedTransaction(chainId, transaction, fees, unitsOf(calls))
  return { transaction, stored: { lease: slot.lease, calls: calls.length, ...stored } }
}

/** Converts a transaction that counts as so many calls to SQL arguments, with the most that it can cost. */
export function storedTransaction(
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
export function weiOf({ maxFeePerGas, maxPriorityFeePerGas }: Omit<RelayFees, 'dataFeeWei'>) {
  return {
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
  }
}
