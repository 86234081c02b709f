/** Reads the number of an address's transactions, as one node counts them. */
import type { Address } from '../../chain.ts'
import { positionSchema } from '../../hex.ts'
import type { RpcAnswer, RpcCall } from './answer.ts'
import { readAnswer } from './answer.ts'

/** Makes the call that counts transactions mined up to that block; `pending` includes waiting ones. */
export function countCall(address: Address, block: 'latest' | 'safe' | 'pending'): RpcCall {
  return { method: 'eth_getTransactionCount', params: [address, block] }
}

/** Reads the answer to `countCall`. Returns undefined if there is none. */
export function readCount(answer: RpcAnswer | undefined): number | undefined {
  const read = readAnswer(answer, positionSchema)
  return 'value' in read ? Number(read.value) : undefined
}
