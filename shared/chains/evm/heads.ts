/**
 * Where a chain ends, as enough of its endpoints say. One that tells too high a head would have blocks
 * counted as read that nobody has seen; one that lags only delays. While too few answer, the lowest word
 * counts for what is neither safe nor final.
 */
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { positionSchema, wordSchema } from '../hex.ts'
import type { Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { Told } from './enough.ts'
import { agreedCount } from './enough.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'
import { headCalls } from './unused.ts'

/** Number and hash of a block. */
export type Block = { number: number; hash: Hex }
/** The ends of a chain. `areApart`: endpoints tell ends that no lag explains. */
export type Heads = {
  latest: Block
  safe: number
  finalized: number | undefined
  areApart: boolean
}

/** Nodes take new final blocks up to a quarter of an hour apart: on the quickest chain 3,600 blocks. */
const apartBlocksMax = 5_000

/** Reads the ends at each endpoint. */
export async function readHeads(world: ChainWorld, chain: Chain): Promise<Heads | Unavailable> {
  const told = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      return { operator, ends: await readEnds(rpc) }
    }),
  )
  const heightsOf = (at: number) =>
    told.map(({ operator, ends }) => ({ operator, count: ends[at]?.number }))
  const latest = agreedCount(heightsOf(0)) ?? lowest(heightsOf(0))
  const head = told.map(({ ends: [block] }) => block).find((block) => block?.number === latest)
  if (!head) return unavailable('no endpoint tells where the chain ends')
  const safe = agreedCount(heightsOf(1)) ?? 0
  const finalized = agreedCount(heightsOf(2))
  const areApart = [0, 2].some((at) => spanOf(heightsOf(at)) > apartBlocksMax)
  return { latest: head, safe, finalized, areApart }
}

function lowest(told: readonly Told<number>[]): number | undefined {
  return told.flatMap(({ count }) => count ?? []).toSorted((a, b) => a - b)[0]
}

function spanOf(told: readonly Told<number>[]): number {
  const heights = told.flatMap(({ count }) => count ?? [])
  return Math.max(...heights) - Math.min(...heights)
}

const blockSchema = z.object({ number: positionSchema.transform(Number), hash: wordSchema })

/** Latest, safe and finalized; undefined where the endpoint does not say. */
async function readEnds(rpc: Rpc): Promise<(Block | undefined)[]> {
  const answers = await rpc.batch(headCalls)
  return answers.map((answer) => {
    const read = readAnswer(answer, blockSchema)
    return 'value' in read ? read.value : undefined
  })
}
