/** Types of a settlement as a block shows it: the common result of all ways to find one. */
import * as z from 'zod'
import type { Hex } from '../hex.ts'
import { positionSchema } from '../hex.ts'
import type { RpcAnswer } from './rpc/answer.ts'
import { readAnswer } from './rpc/answer.ts'

/** Finality by the node's own block tags. A depth in blocks never makes `safe` or `finalized`. */
export type Finality = 'included' | 'safe' | 'finalized'

/** A log that may be that of the payment. */
export type Candidate = { transactionHash: Hex; logIndex: number }

/** Position of a block. `confirmations` is 1 in the latest block. */
export type BlockPosition = {
  blockNumber: bigint
  blockHash: Hex
  confirmations: number
  finality: Finality
}

/**
 * Evidence of a payment in a block. `transactionHash` is null if it is unknown which of its transactions it
 * was. `logs` are the candidate logs, each of which shows its amount; without one the payment counts in
 * full. `takenAtomic` is the amount that was certainly taken, else null.
 */
export type UseEvidence = {
  transactionHash: Hex | null
  logs: readonly Candidate[]
  takenAtomic: bigint | null
}

/** Position of a settled payment, and what its block shows. */
export type Settlement = BlockPosition & UseEvidence

/** Heights of a chain by the node's own tags, in the order of `headCalls`. */
export type HeadHeights = (bigint | undefined)[]

const headSchema = z.object({ number: positionSchema })

/** Reads the heights. One is undefined if the node answers its tag with an error or null. */
export function parseHeadHeights(answers: readonly RpcAnswer[]): HeadHeights {
  return answers.map((answer) => {
    const read = readAnswer(answer, headSchema)
    return 'value' in read ? read.value.number : undefined
  })
}

/** Returns the position of a block relative to the heads of the chain. */
export function blockPositionOf(
  { number, hash }: { number: bigint; hash: Hex },
  [latest, safe, finalized]: HeadHeights,
): BlockPosition {
  const covers = (head: bigint | undefined) => head !== undefined && head >= number
  const finality = covers(finalized) ? 'finalized' : covers(safe) ? 'safe' : 'included'
  // Another backend may answer for the tags and lag behind. The block itself is one confirmation.
  const depth = latest !== undefined && latest > number ? latest - number : 0n
  return { blockNumber: number, blockHash: hash, confirmations: Number(depth) + 1, finality }
}
