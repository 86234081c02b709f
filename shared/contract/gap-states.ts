/**
 * Current status of capabilities: a pure function of the findings. A failed part lowers the capabilities
 * that depend on it. While the watch does not run, nothing is better than partial_live.
 */
import * as z from 'zod'
import type { Capability, GapId, GapStatus } from './gaps.ts'
import { gapStatuses, gaps } from './gaps.ts'

/** Health as the database returns it; `part`: a CapabilityPart, or a ChainPart, a colon and its chain. */
export const health = z.object({
  /** True if the watch has run recently. */
  watched: z.boolean(),
  /** CAIP-2 ids of the connected chains. */
  chains: z.array(z.string()),
  failing: z.array(z.object({ part: z.string(), reason: z.string() })),
})

/** Health, parsed. */
export type Health = z.output<typeof health>

/** A status and the reasons why it is not better, each `<part>_<reason>`. */
type Standing = { status: GapStatus; reasons: string[] }

/** Status of one capability; `chains` if it depends on chains. */
export type GapState = Standing & {
  gap_id: GapId
  chains?: (Standing & { chain: string })[]
}

/** Returns the state of every capability in the order of the table. */
export function gapStates(found: Health): GapState[] {
  return gapIds.map((gap_id) => stateOf(gap_id, found))
}

/** Returns the states while the database does not answer: nothing works without it. */
export function gapStatesWithoutDatabase(): GapState[] {
  return gapIds.map((gap_id) => ({
    gap_id,
    status: 'unavailable',
    reasons: ['database_unreachable'],
  }))
}

const gapIds = Object.keys(gaps).filter((key): key is GapId => key in gaps)

function stateOf(gap_id: GapId, found: Health): GapState {
  const capability: Capability = gaps[gap_id]
  const { best, needs, helps, onChain } = capability
  const unwatched: Standing = { status: 'partial_live', reasons: ['health_not_watched'] }
  const own = worstOf([
    { status: best, reasons: [] },
    ...(found.watched ? [] : [unwatched]),
    ...failures(found, needs, 'unavailable'),
    ...failures(found, helps, 'partial_live'),
  ])
  if (!onChain) return { gap_id, ...own }
  const chains = found.chains.map((chain) => ({
    chain,
    ...worstOf([
      own,
      ...failures(found, onChain.needs, 'unavailable', chain),
      ...failures(found, onChain.helps, 'partial_live', chain),
    ]),
  }))
  return { gap_id, ...overall(own, chains, found.watched), chains }
}

function failures(
  { failing }: Health,
  parts: readonly string[],
  status: GapStatus,
  chain?: string,
): Standing[] {
  return parts.flatMap((part) => {
    const name = chain === undefined ? part : `${part}:${chain}`
    const found = failing.filter((one) => one.part === name)
    return found.map(({ reason }) => ({ status, reasons: [`${part}_${reason}`] }))
  })
}

/** Combines the chains: unavailable only if no chain is left, partial_live if some chains are. */
function overall(own: Standing, chains: readonly Standing[], watched: boolean): Standing {
  if (chains.length === 0) {
    const none: Standing = { status: 'unavailable', reasons: ['no_chain_connected'] }
    return watched ? worstOf([own, none]) : own
  }
  const all = worstOf([own, ...chains])
  const isLeft = chains.some(({ status }) => status !== 'unavailable')
  return isLeft && all.status === 'unavailable' ? { ...all, status: 'partial_live' } : all
}

function worstOf(standings: readonly Standing[]): Standing {
  const rank = Math.max(...standings.map(({ status }) => gapStatuses.indexOf(status)))
  const reasons = [...new Set(standings.flatMap((one) => one.reasons))]
  return { status: gapStatuses[rank] ?? 'unavailable', reasons }
}
