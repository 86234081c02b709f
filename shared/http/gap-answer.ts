/**
 * Adds to answers how the capability stands that the operation belongs to. A refusal because something
 * is not there now says so as well; any other refusal has nothing to do with it.
 */
import type { Refusal } from '../contract/errors.ts'
import type { GapStatus } from '../contract/gaps.ts'
import { gaps } from '../contract/gaps.ts'
import type { Operation } from '../contract/operation.ts'
import { readGaps } from '../health/read-gaps.ts'
import type { World } from '../world.ts'

type Told = { gap_id?: string; gap_status?: GapStatus }

/** The fields that go beside what the handler answered; see `answerOf` for when there are none. */
export async function gapTold({ gap }: Operation, world: World, body: object): Promise<Told> {
  if (gap === undefined) return {}
  const status = await statusOf(gap, world, chainIn(body))
  return status === 'live' && gaps[gap].best === 'live' ? {} : { gap_id: gap, gap_status: status }
}

/** The refusal with the gap in its details, where the operation could not be done now. */
export async function refusedWithGap(
  { gap }: Operation,
  world: World,
  refusal: Refusal,
): Promise<Refusal> {
  if (gap === undefined || refusal.refusal !== 'unavailable') return refusal
  const gap_status = await statusOf(gap, world)
  return { ...refusal, details: { ...refusal.details, gap_id: gap, gap_status } }
}

async function statusOf(gap: string, world: World, chain?: unknown): Promise<GapStatus> {
  const state = (await readGaps(world)).find(({ gap_id }) => gap_id === gap)
  const onChain = state?.chains?.find((one) => one.chain === chain)
  return (onChain ?? state)?.status ?? 'unavailable'
}

/** The one chain that an answer is about: `chain` of a transfer, `network` of an x402 payment. */
function chainIn(body: object): unknown {
  if ('chain' in body) return body.chain
  if ('network' in body) return body.network
  const terms = 'terms' in body ? body.terms : undefined
  return typeof terms === 'object' && terms !== null ? chainIn(terms) : undefined
}
