/**
 * Status of the capabilities, for answers and documents. An isolate asks the database at most every 10
 * seconds; its own recent failures count at once. Nothing here throws: if the database does not answer,
 * everything is unavailable.
 */
import * as z from 'zod'
import {
  type GapState,
  gapStates,
  gapStatesWithoutDatabase,
  type Health,
  health,
} from '../contract/gaps.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'

const keptMilliseconds = 10_000

const healthRow = z.object({ health })

/** Returns the current status of all capabilities. */
export async function readGaps(world: World): Promise<GapState[]> {
  return gapsSeen(world, await readHealth(world))
}

/** Returns what was found failing; undefined if the database does not answer. */
export async function readHealth(world: World): Promise<Health | undefined> {
  const { kept } = world.healthSeen
  const now = world.now().getTime()
  if (kept && now < kept.untilMilliseconds) return kept.health
  try {
    const row = await unbound(world.db).one('health_states', {}, healthRow)
    if (!row) throw new Error('health_states answered nothing')
    world.healthSeen.kept = { health: row.health, untilMilliseconds: now + keptMilliseconds }
    return row.health
  } catch (error) {
    world.log({ work: 'health', log: String(error) })
    return undefined
  }
}

/** Returns the same from health that was just read. */
export function gapsSeen(world: World, found: Health | undefined): GapState[] {
  if (!found) return gapStatesWithoutDatabase()
  return gapStates({ ...found, failing: [...found.failing, ...failingHere(world)] })
}

/** Returns the chains whose endpoints have all failed for this isolate, and vaults where none is offered. */
function failingHere(world: World): Health['failing'] {
  const now = world.now().getTime()
  const restsNow = (url: string) =>
    (world.endpointHealth.get(url)?.restsUntilMilliseconds ?? 0) > now
  const chains = Object.entries(world.config.chainRpcUrls).flatMap(([chain, urls]) =>
    urls.every(restsNow) ? [{ part: `endpoints:${chain}`, reason: 'unreachable' }] : [],
  )
  const hasVaults = world.config.YIELD_VAULTS !== '{}'
  return hasVaults ? chains : [...chains, { part: 'vaults', reason: 'not_offered' }]
}
