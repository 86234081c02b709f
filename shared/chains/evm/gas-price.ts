/**
 * What it would cost now to bring a cancellation to a chain. It is asked for with whatever else a payment is
 * decided from, so no endpoint that is slow delays it for more than a second.
 */
import type { Chain } from '../chain.ts'
import type { Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import { askHead, headCallsOf, readHead } from './ask-head.ts'
import type { GasConfig } from './gas-budget.ts'
import { stoppingMaxFeePerGasOf, withinBudget } from './gas-budget.ts'
import type { GasSeen, GasTold } from './gas-seen.ts'
import { believedGas } from './gas-seen.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** Fees within what the operator pays for a cancellation, and the most that a rollup charges for the bytes of one call. */
export type GasPrice = GasTold

/** Reads both, bounded by what gas cost `lately`, and the newest block where enough endpoints tell it. */
export async function readGasPrice(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
  lately?: GasSeen,
): Promise<(GasPrice & { status: 'ok'; seenBlock: number | undefined }) | Unavailable> {
  const [answers, together] = await Promise.all([
    rpcFor(world, chain).batch(headCallsOf(chain)),
    askHead(world, chain),
  ])
  const alone = readHead(chain, answers)
  const told = together?.head ?? alone?.head
  if (!told) return unavailable('the newest block or its fees are missing')
  const head = believedGas(told, together?.isAgreed ?? true, lately)
  const { dataFeeWei } = head
  const { blockNumber: seenBlock } = together ?? alone ?? {}
  const fees = withinBudget(head, stoppingMaxFeePerGasOf(chain, world.config))
  return { status: 'ok', ...fees, dataFeeWei, seenBlock }
}
