/**
 * Lets a broadcast be answered once the chain has mined it. Anvil answers before, so a test that looked at
 * once would sometimes look too early.
 */
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import type { Fetch } from '../../shared/world.ts'

/** Maximum of looks at the pool; what is still there, such as a fee below the base fee, is not mined. */
const looksMax = 200
const state = z.tuple([z.boolean(), z.object({ pending: z.string() })])

/** Returns a network whose broadcasts end, answered or lost, when the chain has mined them. */
export function answeringOnceMined(network: Fetch, rpcUrl: string): Fetch {
  return async (input, init) => {
    try {
      return await network(input, init)
    } finally {
      const body = typeof init?.body === 'string' ? init.body : ''
      if (body.includes('"eth_sendRawTransaction"')) await untilMined(rpcUrl).catch(() => undefined)
    }
  }
}

/** Waits until nothing is left to mine. A chain that was told not to mine is not waited for. */
async function untilMined(rpcUrl: string): Promise<void> {
  for (let look = 0; look < looksMax; look += 1) {
    const calls = [['anvil_getAutomine'], ['txpool_status']] as const
    const [isMining, pool] = state.parse(await callRpc(rpcUrl, calls))
    if (!isMining || pool.pending === '0x0') return
  }
}
