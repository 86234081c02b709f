/**
 * A place in a lane with the calls that go into it, as the ledger hands it to custody, and
 * the transaction that is made of it. Until it is stored it is given to nobody.
 */
import * as z from 'zod'
import { relayGas } from '../chains/evm/fees.ts'
import { maxFeePerGasOf, stoppingMaxFeePerGasOf } from '../chains/evm/gas-budget.ts'
import { findChain } from '../chains/registry.ts'
import type { Roots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import type { CostOf } from './affordable.ts'
import type { CallRow } from './call-row.ts'
import { callOf, chargeRow } from './call-row.ts'
import { readEnvelope, withKey } from './envelope.ts'
import type { RelayFees, SignedTransaction } from './port.ts'
import type { RelayCall } from './relay-transaction.ts'
import { signRelay } from './relay-transaction.ts'

const wei = z.string().regex(/^[1-9][0-9]{0,30}$/)

/** Fees as they may be asked for. */
export const feesAsked = z.strictObject({
  maxFeePerGas: wei,
  maxPriorityFeePerGas: wei,
  dataFeeWei: z.string().regex(/^[0-9]{1,30}$/),
})

/**
 * The most that a unit of gas may cost: whoever asks, no lane's gas is burned beyond the operator's
 * budget. A transaction that only stops something may be dearer than one with a transfer.
 */
export function ceilingOf(
  { config }: Pick<World, 'config'>,
  chainId: number,
  calls: readonly Pick<RelayCall, 'kind'>[],
): bigint {
  const chain = findChain(`eip155:${chainId}`)
  if (!chain) return 0n
  const isMoving = calls.some(({ kind }) => kind === 'transfer')
  return isMoving ? maxFeePerGasOf(chain, config) : stoppingMaxFeePerGasOf(chain, config)
}

/** Lanes as they may be named. */
export const lanesSeen = z
  .array(
    z.strictObject({
      address: z.string(),
      mined_nonce: z.int().nonnegative(),
      transfers: z.int().nonnegative(),
      cancels: z.int().nonnegative(),
    }),
  )
  .max(64)

/** Whose key signs for a lane: a relayer's, or that of the account whose wallet it is. */
export const laneOwner = z.literal('relayer').or(z.uuid())

/** A place in a lane of this owner. `lease` is what proves that it is still held. */
export const claimRow = z.object({
  lease: z.uuid(),
  chain: z.int(),
  lane: z.string(),
  nonce: z.int().nonnegative(),
  /** Read one by one: a bad one must not take the others with it. */
  calls: z.array(z.unknown()),
  charges: z.array(chargeRow),
  envelope: z.unknown(),
  owner: laneOwner,
})

/** A place that is held, with its calls as the ledger tells them. */
export type ClaimRow = z.output<typeof claimRow>

/** A place that is held, with the calls that go into it. */
export type Claim = Omit<ClaimRow, 'calls'> & { calls: readonly CallRow[] }

/** A transaction for a claim, and the arguments that store it. */
export type SignedClaim = {
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

/** Signs the transaction for a claim, with a call of one's own after those that waited. */
export async function signClaim(
  world: Pick<World, 'config'>,
  roots: Roots,
  claim: Claim,
  fees: RelayFees,
  own: readonly RelayCall[] = [],
): Promise<SignedClaim> {
  const { chain: chainId, lane, nonce } = claim
  const calls = [...claim.calls.map(callOf), ...own]
  if (BigInt(fees.maxFeePerGas) > ceilingOf(world, chainId, calls)) {
    throw new Error('gas is dearer than the budget')
  }
  const binding = { account: claim.owner, address: lane }
  const transaction = await withKey(roots, binding, readEnvelope(claim.envelope), (key) =>
    signRelay(key, { chainId, nonce, ...weiOf(fees), lane, calls }),
  )
  const stored = storedTransaction(chainId, transaction, fees, calls.length)
  return { transaction, stored: { lease: claim.lease, calls: calls.length, ...stored } }
}

/** A transaction of so many calls in the words of SQL, with the most that it can cost. */
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

/** The most that a transaction of so many calls can cost. */
export function costWei(
  chainId: number,
  { maxFeePerGas, dataFeeWei }: RelayFees,
  calls: number,
): string {
  const dataFee = BigInt(Math.max(calls, 1)) * BigInt(dataFeeWei)
  return (relayGas(chainId, calls) * BigInt(maxFeePerGas) + dataFee).toString()
}

/** The same as a function of fees and calls, in wei. */
export function costsOn(chainId: number): CostOf {
  return (fees, calls) => BigInt(costWei(chainId, fees, calls))
}

/** Fees as numbers. */
export function weiOf({ maxFeePerGas, maxPriorityFeePerGas }: Omit<RelayFees, 'dataFeeWei'>) {
  return {
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
  }
}
