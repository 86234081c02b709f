/**
 * Adds to answers how the capability stands that the operation belongs to. A refusal because something
 * is not there now says so as well; any other refusal has nothing to do with it.
 */
import type { Refusal } from '../contract/errors.ts'
import { isRefusal } from '../contract/errors.ts'
import type { GapId, GapStatus } from '../contract/gaps.ts'
import { gaps } from '../contract/gaps.ts'
import type { Operation } from '../contract/operation.ts'
import { gapsSeen, readHealth } from '../health/read-gaps.ts'
import type { World } from '../world.ts'

/** Runs an operation. What is known of health is read meanwhile, so that nobody waits for it. */
export async function tellingGap(
  { gap }: Operation,
  world: World,
  run: () => Promise<object>,
): Promise<object | Refusal> {
  if (gap === undefined) return run()
  const reading = readHealth(world)
  const result = await run()
  const states = gapsSeen(world, await reading)
  const state = states.find(({ gap_id }) => gap_id === gap)
  const chain = isRefusal(result) ? undefined : chainIn(result)
  const onChain = state?.chains?.find((one) => one.chain === chain)
  return added(result, gap, (onChain ?? state)?.status ?? 'unavailable')
}

/** See `answerOf` for when an answer has none of it. */
function added(result: object, gap_id: GapId, gap_status: GapStatus): object {
  const told = { gap_id, gap_status }
  if (!isRefusal(result)) {
    return gap_status === 'live' && gaps[gap_id].best === 'live' ? result : { ...result, ...told }
  }
  if (result.refusal !== 'unavailable') return result
  return { ...result, details: { ...result.details, ...told } }
}

/** The one chain that an answer is about: `chain` of a transfer, `network` of an x402 payment. */
function chainIn(body: object): unknown {
  if ('chain' in body) return body.chain
  if ('network' in body) return body.network
  const terms = 'terms' in body ? body.terms : undefined
  return typeof terms === 'object' && terms !== null ? chainIn(terms) : undefined
}
