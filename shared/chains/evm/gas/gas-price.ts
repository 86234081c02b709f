/**
 * Reads the current cost of bringing a cancellation to a chain. It is read together with the other facts of
 * a payment, so a slow endpoint delays it by at most one second.
 */
import type { Chain } from '../../chain.ts'
import type { Unavailable } from '../rpc/answer.ts'
import { unavailable } from '../rpc/answer.ts'
import type { ChainWorld } from '../rpc/rpc.ts'
import { rpcFor } from '../rpc/rpc.ts'
import { askHead, headCallsOf, readHead } from './ask-head.ts'
import type { GasConfig } from './gas-budget.ts'
import { cancelMaxFeePerGasOf, withinBudget } from './gas-budget.ts'
import type { GasFees, RecentGasFees } from './gas-seen.ts'
import { boundGasFees } from './gas-seen.ts'

/** Fees within the budget for a cancellation, and a rollup's highest charge for one call's bytes. */
export type GasPrice = GasFees

/** Reads the price, bounded by what gas cost `lately`, and the newest block that a quorum reports. */
export async function readGasPrice(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
  lately?: RecentGasFees,
): Promise<(GasPrice & { status: 'ok'; seenBlock: number | undefined }) | Unavailable> {
  const [answers, combined] = await Promise.all([
    rpcFor(world, chain).batch(headCallsOf(chain)),
    askHead(world, chain),
  ])
  const alone = readHead(chain, answers)
  const reported = combined?.head ?? alone?.head
  if (!reported) return unavailable('the newest block or its fees are missing')
  const head = boundGasFees(reported, combined?.isAgreed ?? true, lately)
  const { dataFeeWei } = head
  const { blockNumber: seenBlock } = combined ?? alone ?? {}
  const fees = withinBudget(head, cancelMaxFeePerGasOf(chain, world.config))
  return { status: 'ok', ...fees, dataFeeWei, seenBlock }
}
