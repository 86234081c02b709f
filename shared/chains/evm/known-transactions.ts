/**
 * Which of some transactions a node has, waiting or mined. What none has may still be on its way; what
 * one has can no longer be called back.
 */
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { wordSchema } from '../hex.ts'
import { readAnswer } from './answer.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcsFor } from './rpc.ts'

const transactionSchema = z.object({ hash: wordSchema }).nullable()
const hashesPerRequest = 100

/** Asks every endpoint; answers the hashes that any of them knows. */
export async function knownTransactions(
  world: ChainWorld,
  chain: Chain,
  hashes: readonly Hex[],
): Promise<Set<Hex>> {
  const said = await Promise.all(rpcsFor(world, chain).map((rpc) => knownTo(rpc, hashes)))
  return new Set(said.flat())
}

async function knownTo(rpc: Rpc, hashes: readonly Hex[]): Promise<Hex[]> {
  const known: Hex[] = []
  for (let start = 0; start < hashes.length; start += hashesPerRequest) {
    const part = hashes.slice(start, start + hashesPerRequest)
    const answers = await rpc.batch(
      part.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
    )
    known.push(
      ...part.filter((_, index) => {
        const read = readAnswer(answers[index], transactionSchema)
        return 'value' in read && read.value !== null
      }),
    )
  }
  return known
}
