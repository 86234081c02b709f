/**
 * What one endpoint must not be believed alone: that a signature can no longer be used, that a block is
 * gone, that less was taken than was signed for. Each endpoint is asked by itself and answers from its
 * own state, its own latest and its own finalized block; one that is silent agrees to nothing.
 */
import type { Chain } from '../chain.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'

/** What one endpoint says. */
type Vote = { operator: string; agrees: boolean }

/**
 * Whether enough of a chain's endpoints say yes: the only one; of two both; of more at least two that
 * different operators run, and all of them where one operator runs them all.
 */
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

/** The rule alone. */
export function isEnough(votes: readonly Vote[]): boolean {
  const agreeing = votes.filter(({ agrees }) => agrees)
  const isUnanimous = votes.length > 0 && agreeing.length === votes.length
  const operators = new Set(agreeing.map(({ operator }) => operator)).size
  return isUnanimous || (votes.length > 2 && operators > 1)
}
