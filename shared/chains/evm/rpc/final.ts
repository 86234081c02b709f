/**
 * Checks finality at one endpoint. A payment booked as final is never reversed and never checked again, so
 * a quorum of endpoints must confirm it.
 */
import * as z from 'zod'
import { hexOf, quantitySchema, wordSchema } from '../../hex.ts'
import type { Settlement } from '../settlement.ts'
import { readAnswer } from './answer.ts'
import type { Rpc } from './rpc.ts'

const headSchema = z.object({ number: quantitySchema, hash: wordSchema })

/** Returns true if the endpoint shows this block at its height, at or below its finalized block. */
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
