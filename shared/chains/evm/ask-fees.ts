/**
 * Asks all endpoints of a chain what gas costs, so that no single one can say so alone. One that is
 * slow delays nothing for more than a second and has no say.
 */
import type { Chain } from '../chain.ts'
import type { Fees } from './fees.ts'
import { feeHistoryCall, medianFees, readFees } from './fees.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcsFor } from './rpc.ts'

const answerMilliseconds = 1_000

/**
 * What the endpoints that answer at once suggest together. All are asked at the same time; none where
 * there is only one, which is asked along with everything else.
 */
export async function askFees(world: ChainWorld, chain: Chain): Promise<Fees | undefined> {
  const rpcs = rpcsFor(world, chain)
  if (rpcs.length < 2) return undefined
  const { method, params } = feeHistoryCall
  const limits = { timeoutMilliseconds: answerMilliseconds }
  const answers = await Promise.all(rpcs.map((rpc) => rpc.request(method, params, limits)))
  return medianFees(answers.map(readFees).flatMap((fees) => ('log' in fees ? [] : [fees])))
}
