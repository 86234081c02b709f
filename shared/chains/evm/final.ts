/**
 * What is final. A payment that is booked as final is never taken back and is looked at no more, so of
 * several endpoints enough have to show the same block below their own final one.
 */
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { quantitySchema, wordSchema } from '../hex.ts'
import { readAnswer } from './answer.ts'
import { isEnough } from './enough.ts'
import { hexOf } from './log-ranges.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'
import type { Settlement } from './settlement.ts'

type Placed = Pick<Settlement, 'blockNumber' | 'blockHash' | 'finality'>

/** The same places; one that a single endpoint calls final is safe until enough of them show it so. */
export async function agreedPlaces<Place extends Placed>(
  world: ChainWorld,
  chain: Chain,
  places: readonly Place[],
): Promise<Place[]> {
  const claimed = places.filter(({ finality }) => finality === 'finalized')
  const final = claimed.length === 0 ? new Set() : await finalBlocks(world, chain, claimed)
  return places.map((place) =>
    place.finality === 'finalized' && !final.has(place.blockHash)
      ? { ...place, finality: 'safe' }
      : place,
  )
}

/** The hashes of those that are final as enough endpoints show it. */
async function finalBlocks(
  world: ChainWorld,
  chain: Chain,
  blocks: readonly Placed[],
): Promise<Set<Hex>> {
  const told = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => ({
      operator,
      final: await finalTo(rpc, blocks),
    })),
  )
  const isFinal = ({ blockHash }: Placed) =>
    isEnough(told.map(({ operator, final }) => ({ operator, agrees: final.has(blockHash) })))
  return new Set(blocks.filter(isFinal).map(({ blockHash }) => blockHash))
}

const headSchema = z.object({ number: quantitySchema, hash: wordSchema })

/** Those of the blocks that one endpoint has at their height, and nothing can replace. */
async function finalTo(rpc: Rpc, blocks: readonly Placed[]): Promise<Set<Hex>> {
  const heights = ['finalized', ...blocks.map(({ blockNumber }) => hexOf(blockNumber))]
  const calls = heights.map((at) => ({ method: 'eth_getBlockByNumber', params: [at, false] }))
  const [end, ...shown] = await rpc.batch(calls)
  const final = readAnswer(end, headSchema)
  if ('status' in final) return new Set()
  const isFinal = ({ blockNumber, blockHash }: Placed, at: number) => {
    const read = readAnswer(shown[at], headSchema)
    return 'value' in read && read.value.hash === blockHash && blockNumber <= final.value.number
  }
  return new Set(blocks.filter(isFinal).map(({ blockHash }) => blockHash))
}
