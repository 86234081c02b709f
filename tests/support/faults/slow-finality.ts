/** Chains whose blocks are final only after minutes, and nodes without old states. */
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import type { TestWorld } from '../world.ts'
import { node, pass } from './chain.ts'
import { forgetting, type Liar } from './liar.ts'

const stepSeconds = 180

/**
 * Returns a function that lets steps of three minutes pass, with housekeeping in each. All endpoints show as
 * final what was the latest block `lag` steps before.
 */
export function slowly(
  world: TestWorld,
  endpoints: readonly Liar[],
  { lag, keepsStates }: { lag: number; keepsStates: boolean },
) {
  const heads: number[] = []
  return async (steps: number): Promise<void> => {
    for (let step = 0; step < steps; step += 1) {
      await pass(world, stepSeconds)
      heads.push(Number(await node(world, 'eth_blockNumber')))
      const final = `"0x${(heads[Math.max(0, heads.length - 1 - lag)] ?? 0).toString(16)}"`
      const late = { asked: (body: string) => body.replace(/"(finalized|safe)"/g, final) }
      for (const endpoint of endpoints) endpoint.tell(late, ...(keepsStates ? [] : [forgetting()]))
      await runHousekeeping(world.world)
      await indexTransfers(world.world)
    }
  }
}
