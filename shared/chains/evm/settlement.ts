/** Position of a block relative to the heads of its chain, and its finality by the node's own tags. */
import * as z from 'zod'
import { type Hex, positionSchema } from '../hex.ts'
import { type RpcAnswer, readRpcAnswer } from './rpc/endpoints.ts'

/** Finality by the node's own block tags. A depth in blocks never makes `safe` or `finalized`. */
export type Finality = 'included' | 'safe' | 'finalized'

/** Position of a block. `confirmations` is 1 in the latest block. */
export type BlockPosition = {
  blockNumber: bigint
  blockHash: Hex
  confirmations: number
  finality: Finality
}

/** Calls that read the latest, the safe and the finalized block. */
export const headCalls = ['latest', 'safe', 'finalized'].map((tag) => ({
  method: 'eth_getBlockByNumber',
  params: [tag, false],
}))

/** Heights of a chain by the node's own tags, in the order of `headCalls`. */
export type HeadHeights = (bigint | undefined)[]

const headSchema = z.object({ number: positionSchema })

/** Reads the heights. One is undefined if the node answers its tag with an error or null. */
export function parseHeadHeights(answers: readonly RpcAnswer[]): HeadHeights {
  return answers.map((answer) => {
    const read = readRpcAnswer(answer, headSchema)
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
