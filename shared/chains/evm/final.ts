/**
 * What is final by the word of one endpoint. A payment that is booked as final is never taken back and is
 * looked at no more, so of several endpoints enough have to say it.
 */
import * as z from 'zod'
import { hexOf, quantitySchema, wordSchema } from '../hex.ts'
import { readAnswer } from './answer.ts'
import type { Rpc } from './rpc.ts'
import type { Settlement } from './settlement.ts'

const headSchema = z.object({ number: quantitySchema, hash: wordSchema })

/** Whether the endpoint has this block at its height, where nothing can replace it. */
export async function showsAsFinal(
  rpc: Rpc,
  { blockNumber, blockHash }: Pick<Settlement, 'blockNumber' | 'blockHash'>,
): Promise<boolean> {
  const heights = ['finalized', hexOf(blockNumber)]
  const calls = heights.map((at) => ({ method: 'eth_getBlockByNumber', params: [at, false] }))
  const [final, block] = (await rpc.batch(calls)).map((answer) => readAnswer(answer, headSchema))
  if (!final || !block || 'status' in final || 'status' in block) return false
  return block.value.hash === blockHash && blockNumber <= final.value.number
}
