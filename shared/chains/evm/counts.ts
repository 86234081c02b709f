/** How many transactions of an address there are, as one node counts them. */
import type { Address } from '../chain.ts'
import { positionSchema } from '../hex.ts'
import type { RpcAnswer, RpcCall } from './answer.ts'
import { readAnswer } from './answer.ts'

/** Counts those that are mined by that block, or those that wait as well. */
export function countCall(address: Address, block: 'latest' | 'safe' | 'pending'): RpcCall {
  return { method: 'eth_getTransactionCount', params: [address, block] }
}

/** Reads the answer to it; undefined where there is none. */
export function readCount(answer: RpcAnswer | undefined): number | undefined {
  const read = readAnswer(answer, positionSchema)
  return 'value' in read ? Number(read.value) : undefined
}
