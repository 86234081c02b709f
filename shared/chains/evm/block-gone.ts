/** Whether a block is gone, by enough endpoints that what was read in it may be taken back. */
import type { Chain } from '../chain.ts'
import type { Agreed } from './agreement.ts'
import { findAgreed, isAgreed } from './agreement.ts'
import { unavailable } from './answer.ts'
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

/** The same where it also has to be agreed that the block still stands. */
export function readReplaced(
  world: ChainWorld,
  chain: Chain,
  block: { number: number; hash: string },
): Promise<Agreed<{ isReplaced: boolean }>> {
  return findAgreed(world, chain, async (rpc) => {
    const isReplaced = await replacedBy(rpc, block)
    return isReplaced === undefined
      ? unavailable(`no word on block ${block.number}`)
      : { isReplaced }
  })
}
