/** Whether a block is gone, by enough endpoints that a settlement may be taken back for it. */
import type { Chain } from '../chain.ts'
import { isAgreed } from './agreement.ts'
import { replacedBy } from './proof.ts'
import type { ChainWorld } from './rpc.ts'

/** Whether they show another block at its height. */
export function isBlockGone(
  world: ChainWorld,
  chain: Chain,
  block: { number: number; hash: string },
): Promise<boolean> {
  return isAgreed(world, chain, async (rpc) => (await replacedBy(rpc, block)) === true)
}
