/**
 * That a signature was not used, and how long that is final: what a reserved amount is released on.
 * The same for EIP-3009 and Permit2.
 */
import * as z from 'zod'
import { quantitySchema } from '../hex.ts'
import type { RpcAnswer } from './answer.ts'
import { readAnswer } from './answer.ts'

/**
 * At the latest block, of that time. `finalizedTimestampSeconds` is the latest time up to which it
 * is final that it was unused; absent on a node without finality, which proves no expiry.
 */
export type Unused = {
  status: 'unused'
  latestTimestampSeconds: bigint
  finalizedTimestampSeconds?: bigint
}

/** Spent, nobody knows where; `isFinal`: as of the finalized block. `latest` has it spent. */
export type Untraced = { status: 'untraced'; latest: bigint; isFinal: boolean }

/** Asks for the latest, the safe and the finalized block. */
export const headCalls = ['latest', 'safe', 'finalized'].map((tag) => ({
  method: 'eth_getBlockByNumber',
  params: [tag, false],
}))

const headSchema = z.object({ timestamp: quantitySchema })

/** Unused at the latest block, and how long that is final. */
export function unusedAt(latestTimestampSeconds: bigint, finalized: RpcAnswer | undefined): Unused {
  const head = readAnswer(finalized, headSchema)
  if ('status' in head) return { status: 'unused', latestTimestampSeconds }
  return {
    status: 'unused',
    latestTimestampSeconds,
    finalizedTimestampSeconds: earlier(head.value.timestamp, latestTimestampSeconds),
  }
}

/** Whether it is final that it was never used, for a signature that is good until `endSeconds`. */
export function isOver(fate: { status: string } | Unused, endSeconds: bigint): boolean {
  if (!('finalizedTimestampSeconds' in fate)) return false
  const { finalizedTimestampSeconds: final } = fate
  return final !== undefined && final >= endSeconds
}

/**
 * State and tag may come from two backends. A state read behind the finalized block is final only
 * up to its own time; one read ahead of it implies the finalized block's state, since a spent
 * authorization never becomes unused again. Either way the earlier time is proven.
 */
function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
