/**
 * How capabilities stand, for answers and documents. The database is asked at most every 10 seconds by
 * one isolate; what this isolate itself met a moment ago counts at once. It never throws: a database
 * that does not answer makes everything unavailable.
 */
import * as z from 'zod'
import type { GapState, Health } from '../contract/gap-states.ts'
import { gapStates, gapStatesWithoutDatabase, health } from '../contract/gap-states.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'

const keptMilliseconds = 10_000

const healthRow = z.object({ health })

/** All capabilities as they stand now. */
export async function readGaps(world: World): Promise<GapState[]> {
  return gapsSeen(world, await readHealth(world))
}

/** What was found failing; undefined while the database does not answer. */
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

/** The same from what the database has just told. */
export function gapsSeen(world: World, found: Health | undefined): GapState[] {
  if (!found) return gapStatesWithoutDatabase()
  return gapStates({ ...found, failing: [...found.failing, ...failingHere(world)] })
}

/** Chains of which no endpoint answered this isolate, while all of them are set aside for it. */
function failingHere(world: World): Health['failing'] {
  const now = world.now().getTime()
  const restsNow = (url: string) =>
    (world.endpointHealth.get(url)?.restsUntilMilliseconds ?? 0) > now
  return Object.entries(world.config.chainRpcUrls).flatMap(([chain, urls]) =>
    urls.every(restsNow) ? [{ part: `endpoints:${chain}`, reason: 'unreachable' }] : [],
  )
}
