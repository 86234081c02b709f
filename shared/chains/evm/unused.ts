/**
 * That a signature was not used, and how long that is final: what a reserved amount is released on.
 * The same for EIP-3009 and Permit2.
 */
import * as z from 'zod'
import { quantitySchema } from '../hex.ts'
import type { RpcAnswer } from './answer.ts'
import { readAnswer } from './answer.ts'

/**
 * At the block `latest`, of that time. `finalizedTimestampSeconds` is the latest time up to which it
 * is final that it was unused; absent on a node without finality, which proves no expiry.
 */
export type Unused = {
  status: 'unused'
  latest: bigint
  latestTimestampSeconds: bigint
  finalizedTimestampSeconds?: bigint
}

/** Spent, nobody knows where; `latest` has it spent. */
export type Untraced = { status: 'untraced'; latest: bigint } & FinalUse

/**
 * How final it is that it is spent. `isFinal`: in the state of the finalized block, which not every node
 * keeps. `finalSeconds`: the time of that block; undefined on a node without finality.
 */
export type FinalUse = { isFinal: boolean; finalSeconds: bigint | undefined }

/** Asks for the latest, the safe and the finalized block. */
export const headCalls = ['latest', 'safe', 'finalized'].map((tag) => ({
  method: 'eth_getBlockByNumber',
  params: [tag, false],
}))

const headSchema = z.object({ timestamp: quantitySchema })

/** Unused at the latest block, and how long that is final. */
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

/** The time of a block that was asked for; undefined where the node does not say. */
export function secondsOf(block: RpcAnswer | undefined): bigint | undefined {
  const head = readAnswer(block, headSchema)
  return 'value' in head ? head.value.timestamp : undefined
}

/** Whether it is final that it was never used, for a signature that is good until `endSeconds`. */
export function isOver(fate: { status: string } | Unused, endSeconds: bigint): boolean {
  if (!('finalizedTimestampSeconds' in fate)) return false
  const { finalizedTimestampSeconds: final } = fate
  return final !== undefined && final >= endSeconds
}

/**
 * Whether a signature that was good until `endSeconds` was used in a final block, whichever that was:
 * none after its end could have spent it, and a block later than that is final.
 */
export function isUseFinal({ isFinal, finalSeconds }: FinalUse, endSeconds: bigint): boolean {
  return isFinal || (finalSeconds !== undefined && finalSeconds >= endSeconds)
}

/**
 * State and tag may come from two backends. A state read behind the finalized block is final only
 * up to its own time; one read ahead of it implies the finalized block's state, since a spent
 * authorization never becomes unused again. Either way the earlier time is proven.
 */
function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
