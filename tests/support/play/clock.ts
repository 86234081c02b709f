/**
 * One time for the product, its database and the chain, which passes only when a play says so. That
 * makes a script the same each time that it is run, and a day as short as its actions.
 */
import { callRpc } from '../../../scripts/local/rpc.ts'
import type { TestWorld } from '../world.ts'

/** What a rollup asks for on a calm day. */
export const usualMwei = 10

export type Clock = {
  /** Unix seconds. */
  seconds: () => number
  now: () => Date
  /** All go on by so many seconds; the chain shows it with its next block. */
  advance(seconds: number): Promise<void>
  /** What gas costs in the blocks that come, in millions of wei; without a word it sinks to nothing. */
  baseFeeMwei: number
  /** Tells the chain again what a reorganization made it forget. */
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
