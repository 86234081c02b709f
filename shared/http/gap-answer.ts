/**
 * Adds the status of the operation's capability to its answers. Of the refusals, only `unavailable` carries
 * it; the others have nothing to do with it.
 */
import type { Refusal } from '../contract/errors.ts'
import { isRefusal } from '../contract/errors.ts'
import type { GapId, GapStatus } from '../contract/gaps.ts'
import { gaps } from '../contract/gaps.ts'
import type { Operation } from '../contract/operation.ts'
import { gapsSeen, readHealth } from '../health/read-gaps.ts'
import type { World } from '../world.ts'

/** Runs an operation and reads the health in the meantime, so that nobody waits for it. */
export async function withGapStatus(
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

/** Adds the status where `fullResponseOf` declares it. */
function added(result: object, gap_id: GapId, gap_status: GapStatus): object {
  const told = { gap_id, gap_status }
  if (!isRefusal(result)) {
    return gap_status === 'live' && gaps[gap_id].best === 'live' ? result : { ...result, ...told }
  }
  if (result.refusal !== 'unavailable') return result
  return { ...result, details: { ...result.details, ...told } }
}

/** Returns the one chain that an answer is about: `chain` of a transfer, `network` of an x402 payment. */
function chainIn(body: object): unknown {
  if ('chain' in body) return body.chain
  if ('network' in body) return body.network
  const terms = 'terms' in body ? body.terms : undefined
  return typeof terms === 'object' && terms !== null ? chainIn(terms) : undefined
}
