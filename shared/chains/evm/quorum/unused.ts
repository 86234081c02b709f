/**
 * State of a signature that was not used, or was used in an unknown block, and how final that is. Reserved
 * amounts are released on it. It is the same for EIP-3009 and Permit2.
 */
import * as z from 'zod'
import { quantitySchema } from '../../hex.ts'
import type { RpcAnswer } from '../rpc/answer.ts'
import { readAnswer } from '../rpc/answer.ts'

/**
 * Unused at the block `latest`. `finalizedTimestampSeconds` is the latest time up to which it is final that
 * it was unused. The field is absent on a node without finality, which proves no expiry.
 */
export type Unused = {
  status: 'unused'
  latest: bigint
  latestTimestampSeconds: bigint
  finalizedTimestampSeconds?: bigint
}

/** Spent in an unknown block; it is spent at `latest`. */
export type Untraced = { status: 'untraced'; latest: bigint } & FinalUse

/**
 * Finality of a use. `isFinal`: it is spent in the state of the finalized block, which not every node
 * keeps. `finalSeconds`: the time of that block, undefined on a node without finality.
 */
export type FinalUse = { isFinal: boolean; finalSeconds: bigint | undefined }

/** Calls that read the latest, the safe and the finalized block. */
export const headCalls = ['latest', 'safe', 'finalized'].map((tag) => ({
  method: 'eth_getBlockByNumber',
  params: [tag, false],
}))

const headSchema = z.object({ timestamp: quantitySchema })

/** Makes the unused state at the latest block, with the time up to which it is final. */
export function unusedAt(
  { blockNumber, blockTimestampSeconds }: { blockNumber: bigint; blockTimestampSeconds: bigint },
  finalized: RpcAnswer | undefined,
): Unused {
  const final = secondsOf(finalized)
  const times = { latest: blockNumber, latestTimestampSeconds: blockTimestampSeconds }
  if (final === undefined) return { status: 'unused', ...times }
  return {
    status: 'unused',
    ...times,
    finalizedTimestampSeconds: earlier(final, blockTimestampSeconds),
  }
}

/** Reads the time of a block. Returns undefined if the node does not answer. */
export function secondsOf(block: RpcAnswer | undefined): bigint | undefined {
  const head = readAnswer(block, headSchema)
  return 'value' in head ? head.value.timestamp : undefined
}

/** Returns true if it is final that a signature valid until `endSeconds` was never used. */
export function isFinallyUnused(outcome: { status: string } | Unused, endSeconds: bigint): boolean {
  if (!('finalizedTimestampSeconds' in outcome)) return false
  const { finalizedTimestampSeconds: final } = outcome
  return final !== undefined && final >= endSeconds
}

/**
 * Returns true if a signature that was valid until `endSeconds`, and is spent, was spent in some final
 * block: no block after its end could spend it, and a block from then on is final.
 */
export function isUseFinal({ isFinal, finalSeconds }: FinalUse, endSeconds: bigint): boolean {
  return isFinal || (finalSeconds !== undefined && finalSeconds >= endSeconds)
}

/**
 * Returns the earlier time. State and tag may come from two backends. State read before the finalized block
 * is final only up to its own time. State read after it implies that of the finalized block, since a spent
 * authorization never becomes unused again. In both cases the earlier time is proven.
 */
function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
