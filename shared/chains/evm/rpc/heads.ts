/**
 * Reads the heads of a chain from a quorum of its endpoints. An endpoint that reports too high a head would
 * make blocks count as read that nobody has seen; one that lags only delays. Without a quorum the lowest
 * reported height counts as latest, and nothing counts as safe or final.
 */
import * as z from 'zod'
import type { Chain } from '../../chain.ts'
import type { Hex } from '../../hex.ts'
import { positionSchema, wordSchema } from '../../hex.ts'
import type { CountReport } from '../quorum/enough.ts'
import { agreedCount } from '../quorum/enough.ts'
import { headCalls } from '../settlement.ts'
import type { Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'

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
    const read = readAnswer(answer, blockSchema)
    return 'value' in read ? read.value : undefined
  })
}
