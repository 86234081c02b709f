/**
 * How many transactions an address has sent, as far as any endpoint knows. Counts only rise, so an
 * endpoint that lags says too little and the highest is the truth; one that invents transactions is
 * not found out, so a count alone is no proof that one of ours was mined.
 */
import * as z from 'zod'
import type { Address, Chain } from '../chain.ts'
import { quantitySchema } from '../hex.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcsFor } from './rpc.ts'

/** The next nonce by block tag; `pending` is never below `latest`. No tag `finalized`, no count. */
export type TransactionCounts = { latest: number; pending: number; finalized?: number }

const tags = ['latest', 'pending', 'finalized'] as const

/** Asks every endpoint at once; one that answers is enough. */
export async function readTransactionCounts(
  world: ChainWorld,
  chain: Chain,
  address: Address,
): Promise<TransactionCounts | Unavailable> {
  const calls = tags.map((tag) => ({ method: 'eth_getTransactionCount', params: [address, tag] }))
  const answers = await Promise.all(rpcsFor(world, chain).map((rpc) => rpc.batch(calls)))
  const [latest, pending, finalized] = tags.map((_, at) => highest(answers.map((one) => one[at])))
  if (latest === undefined) return unavailable(`no endpoint of ${chain.caip2} counts transactions`)
  return {
    latest,
    pending: Math.max(latest, pending ?? 0),
    ...(finalized === undefined ? {} : { finalized }),
  }
}

const countSchema = quantitySchema.transform(Number).pipe(z.int())

function highest(answers: readonly (RpcAnswer | undefined)[]): number | undefined {
  const counts = answers.flatMap((answer) => {
    const read = readAnswer(answer, countSchema)
    return 'value' in read ? [read.value] : []
  })
  return counts.length === 0 ? undefined : Math.max(...counts)
}
