/**
 * One clock for the product, its database and the chain, which advances only when a play says so. A script
 * gives the same result each time, and a day takes no longer than its actions.
 */
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import type { TestWorld } from '../world.ts'

/** Base fee of a rollup on a calm day. */
export const usualMwei = 10

export type Clock = {
  /** Returns Unix seconds. */
  seconds: () => number
  now: () => Date
  /** Advances all clocks; the chain shows it with its next block. */
  advance(seconds: number): Promise<void>
  /** Base fee of the next blocks in millions of wei; without it, the fee would sink to nothing. */
  baseFeeMwei: number
  /** Repeats to the chain what a reorganization made it forget. */
  remind(): Promise<void>
}

export async function openClock({ chain, db }: Pick<TestWorld, 'chain' | 'db'>): Promise<Clock> {
  let seconds = Math.floor(Date.now() / 1000) + 5
  const now = () => new Date(seconds * 1000)
  const remind = async () => {
    const wei = `0x${(BigInt(clock.baseFeeMwei) * 10n ** 6n).toString(16)}`
    await callRpc(chain.rpcUrl, [
      ['evm_setNextBlockTimestamp', seconds],
      ['anvil_setNextBlockBaseFeePerGas', wei],
    ])
  }
  await callRpc(chain.rpcUrl, [['anvil_setBlockTimestampInterval', 0]])
  const advance = async (by: number) => {
    seconds += by
    await Promise.all([remind(), db.setClock(now())])
  }
  const clock: Clock = { seconds: () => seconds, now, advance, remind, baseFeeMwei: usualMwei }
  await advance(1)
  return clock
}
