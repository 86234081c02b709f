/**
 * What it would cost now to bring a cancellation to a chain. It is asked for with whatever else a payment is
 * decided from, so no endpoint that is slow delays it for more than a second.
 */
import type { Chain } from '../chain.ts'
import type { Unavailable } from './answer.ts'
import { askFees } from './ask-fees.ts'
import { dataFeeCall, readDataFee } from './data-fee.ts'
import type { Fees } from './fees.ts'
import { feeHistoryCall, readFees } from './fees.ts'
import type { GasConfig } from './gas-budget.ts'
import { stoppingMaxFeePerGasOf, withinBudget } from './gas-budget.ts'
import { decodeSnapshot, encodeSnapshot } from './multicall.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** Fees within what the operator pays for a cancellation, and the most that a rollup charges for the bytes of one call. */
export type GasPrice = Fees & { dataFeeWei: bigint }

/** Reads both; one endpoint alone cannot raise the fees. */
export async function readGasPrice(
  world: ChainWorld & { config: GasConfig },
  chain: Chain,
): Promise<(GasPrice & { status: 'ok' }) | Unavailable> {
  const [[state, history], median] = await Promise.all([
    rpcFor(world, chain).batch([encodeSnapshot(chain, [dataFeeCall]), feeHistoryCall]),
    askFees(world, chain),
  ])
  const snapshot = decodeSnapshot(state)
  const suggested = median ?? readFees(history)
  if (snapshot.status !== 'ok') return snapshot
  if ('log' in suggested) return suggested
  const fees = withinBudget(suggested, stoppingMaxFeePerGasOf(chain, world.config))
  return { status: 'ok', ...fees, dataFeeWei: readDataFee(chain, snapshot.results[0]) }
}
