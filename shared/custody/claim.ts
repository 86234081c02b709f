/**
 * A place in a relayer's lane with the calls that go into it, as the ledger hands it to custody, and
 * the transaction that is made of it. Until it is stored it is given to nobody.
 */
import * as z from 'zod'
import { maxFeePerGasCeiling } from '../chains/evm/fees.ts'
import type { Roots } from '../sealing/roots.ts'
import { readEnvelope, withKey } from './envelope.ts'
import type { RelayFees, SignedTransaction } from './port.ts'
import type { RelayCall } from './relay-transaction.ts'
import { signRelay } from './relay-transaction.ts'

const wei = z.string().regex(/^[1-9][0-9]{0,30}$/)
/** Whoever asks, a relayer's gas is not burned at an absurd price. */
const feePerGas = wei.refine((text) => BigInt(text) <= maxFeePerGasCeiling)

/** Fees as they may be asked for. */
export const feesAsked = z.strictObject({
  maxFeePerGas: feePerGas,
  maxPriorityFeePerGas: feePerGas,
})

/** Lanes as they may be named. */
export const lanesSeen = z
  .array(z.strictObject({ address: z.string(), mined_nonce: z.int().nonnegative() }))
  .max(64)

/** One call as the ledger answers it. */
export const callRow = z.object({
  kind: z.enum(['transfer', 'cancel']),
  token: z.string(),
  from: z.string(),
  to: z.string(),
  value: z.string(),
  valid_after: z.int(),
  valid_before: z.int(),
  nonce: z.string().nullable(),
  signature: z.string().nullable(),
})

/** One call as it is queued; a wallet's own transfer has no nonce and no signature. */
export type CallRow = z.output<typeof callRow>

/** A place in a lane. `lease` is what proves that it is still held. */
export const claimRow = z.object({
  lease: z.uuid(),
  chain: z.int(),
  lane: z.string(),
  nonce: z.int().nonnegative(),
  calls: z.array(callRow),
  envelope: z.unknown(),
})

/** A place that is held. */
export type Claim = z.output<typeof claimRow>

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
  }
}

/** Signs the relayer's transaction for a claim, with a call of one's own after those that waited. */
export async function signClaim(
  roots: Roots,
  claim: Claim,
  fees: RelayFees,
  own: readonly RelayCall[] = [],
): Promise<SignedClaim> {
  const { chain: chainId, lane, nonce } = claim
  const calls = [...claim.calls.map(callOf), ...own]
  const binding = { account: 'relayer', address: lane }
  const transaction = await withKey(roots, binding, readEnvelope(claim.envelope), (key) =>
    signRelay(key, { chainId, nonce, ...weiOf(fees), lane, calls }),
  )
  return storing(claim, transaction, fees, calls.length)
}

/** What stores a transaction of so many calls. */
export function storing(
  { lease }: Claim,
  transaction: SignedTransaction,
  fees: RelayFees,
  calls: number,
): SignedClaim {
  const stored = {
    lease,
    calls,
    tx_hash: transaction.hash,
    raw: transaction.raw,
    max_fee_per_gas: fees.maxFeePerGas,
    max_priority_fee_per_gas: fees.maxPriorityFeePerGas,
  }
  return { transaction, stored }
}

/** Fees as numbers. */
export function weiOf({ maxFeePerGas, maxPriorityFeePerGas }: RelayFees) {
  return {
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
  }
}

/** A queued call with its signature; throws when it has none. */
export function callOf({ kind, token, from, to, value, ...row }: CallRow): RelayCall {
  const { nonce, signature } = row
  if (nonce === null || signature === null) throw new Error('a call was queued unsigned')
  if (kind === 'cancel') return { kind, token, authorizer: from, nonce, signature }
  const validAfter = String(row.valid_after)
  const validBefore = String(row.valid_before)
  const authorization = { from, to, value, validAfter, validBefore, nonce, signature }
  return { kind, token, authorization }
}
