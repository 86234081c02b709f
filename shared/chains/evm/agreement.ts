/**
 * What one endpoint must not be believed alone: that a signature can no longer be used, that a block is
 * gone, that less was taken than was signed for. Each endpoint is asked by itself and answers from its
 * own state, its own latest and its own finalized block; one that is silent agrees to nothing.
 */
import type { Chain } from '../chain.ts'
import { isEnough } from './enough.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'

/** Whether enough of a chain's endpoints say yes. */
export async function isAgreed(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<boolean>,
): Promise<boolean> {
  const asked = endpointsFor(world, chain).map(async ({ operator, rpc }) => ({
    operator,
    agrees: await ask(rpc),
  }))
  return isEnough(await Promise.all(asked))
}
