/** Reads the head of each endpoint, and the count of an account's transactions. */
import * as z from 'zod'
import type { Address, Chain } from '../../chain.ts'
import { type Hex, positionSchema, wordSchema } from '../../hex.ts'
import { agreedCount, type CountReport } from '../quorum/enough.ts'
import { headCalls } from '../settlement.ts'
import {
  type RpcAnswer,
  type RpcCall,
  readRpcAnswer,
  type Unavailable,
  unavailable,
} from './endpoints.ts'
import { type ChainWorld, endpointsFor, type Rpc } from './rpc.ts'

/** Number and hash of a block. */
export type Block = { number: number; hash: Hex }
/** Heads of a chain. `areApart`: endpoints report heights that lag does not explain. */
export type ChainHeads = {
  latest: Block
  safe: number
  finalized: number | undefined
  areApart: boolean
}

/** Highest spread of heights. New final blocks may take 15 minutes: 3,600 on the fastest chain. */
const apartBlocksMax = 5_000

/** Reads the heads at each endpoint and combines them. */
export async function readAgreedHeads(
  world: ChainWorld,
  chain: Chain,
): Promise<ChainHeads | Unavailable> {
  const reports = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      return { operator, ends: await readEnds(rpc) }
    }),
  )
  const heightsOf = (at: number) =>
    reports.map(({ operator, ends }) => ({ operator, count: ends[at]?.number }))
  const latest = agreedCount(heightsOf(0)) ?? lowest(heightsOf(0))
  const head = reports.map(({ ends: [block] }) => block).find((block) => block?.number === latest)
  if (!head) return unavailable('no endpoint tells where the chain ends')
  const safe = agreedCount(heightsOf(1)) ?? 0
  const finalized = agreedCount(heightsOf(2))
  const areApart = [0, 2].some((at) => spanOf(heightsOf(at)) > apartBlocksMax)
  return { latest: head, safe, finalized, areApart }
}

function lowest(reports: readonly CountReport<number>[]): number | undefined {
  return reports.flatMap(({ count }) => count ?? []).toSorted((a, b) => a - b)[0]
}

function spanOf(reports: readonly CountReport<number>[]): number {
  const heights = reports.flatMap(({ count }) => count ?? [])
  return Math.max(...heights) - Math.min(...heights)
}

const blockSchema = z.object({ number: positionSchema.transform(Number), hash: wordSchema })

/** Reads latest, safe and finalized. An entry is undefined if the endpoint does not answer it. */
async function readEnds(rpc: Rpc): Promise<(Block | undefined)[]> {
  const answers = await rpc.batch(headCalls)
  return answers.map((answer) => {
    const read = readRpcAnswer(answer, blockSchema)
    return 'value' in read ? read.value : undefined
  })
}

/** Makes the call that counts transactions mined up to that block; `pending` includes waiting ones. */
export function countCall(address: Address, block: 'latest' | 'safe' | 'pending'): RpcCall {
  return { method: 'eth_getTransactionCount', params: [address, block] }
}

/** Reads the answer to `countCall`. Returns undefined if there is none. */
export function readCount(answer: RpcAnswer | undefined): number | undefined {
  const read = readRpcAnswer(answer, positionSchema)
  return 'value' in read ? Number(read.value) : undefined
}
