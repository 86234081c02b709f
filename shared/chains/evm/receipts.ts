/**
 * Receipts of many transactions, with where each stands among the latest, safe and finalized blocks.
 * A receipt that is missing says nothing: the transaction may be pending, dropped or unknown to this
 * node.
 */
import type * as z from 'zod'
import type { Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer } from './answer.ts'
import type { Inclusion } from './proof.ts'
import { headCall, placeInChain, readHead, receiptSchema } from './proof.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** A receipt in its place. */
export type PlacedReceipt = z.output<typeof receiptSchema> & Inclusion

/** Receipts in one HTTP request; one of a full batch of transfers has about 40 kB. */
const receiptsPerRequest = 16

/** Reads all of them by hash; those that the node does not have are left out. */
export async function readReceipts(
  world: ChainWorld,
  chain: Chain,
  hashes: readonly Hex[],
): Promise<{ status: 'ok'; receipts: Map<string, PlacedReceipt> } | Unavailable> {
  const receipts = new Map<string, PlacedReceipt>()
  for (let start = 0; start < hashes.length; start += receiptsPerRequest) {
    const part = hashes.slice(start, start + receiptsPerRequest)
    const calls = [
      ...(['latest', 'safe', 'finalized'] as const).map(headCall),
      ...part.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    ]
    // One endpoint that has none of them may lag behind another that has.
    const limits = { isEnough: ([, , , ...found]: readonly RpcAnswer[]) => found.some(isFound) }
    const answered = await rpcFor(world, chain).batch(calls, limits)
    const [latest, safe, finalized, ...answers] = answered
    const heads = [latest, safe, finalized].map((head) => head && readHead(head))
    for (const answer of answers) {
      const read = readAnswer(answer, receiptSchema.nullable())
      if ('status' in read) return read
      if (!read.value) continue
      const placed = { ...read.value, ...placeInChain(read.value, heads) }
      receipts.set(read.value.transactionHash, placed)
    }
  }
  return { status: 'ok', receipts }
}

function isFound(answer: RpcAnswer): boolean {
  return 'result' in answer && answer.result !== null
}
