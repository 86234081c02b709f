/** What became of an EIP-3009 authorization, as the endpoints of a chain show its log. */
import type { Chain } from '../chain.ts'
import type { AgreedFate } from './agreed-use.ts'
import { agreeOnUse } from './agreed-use.ts'
import type { Unavailable } from './answer.ts'
import type { AuthorizationFate } from './authorization.ts'
import type { ChainWorld, Rpc } from './rpc.ts'

/** Asks each endpoint by itself. */
export function agreeOnAuthorization(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<AuthorizationFate | Unavailable>,
): Promise<AgreedFate | Unavailable> {
  return agreeOnUse(world, chain, async (rpc) => {
    const fate = await ask(rpc)
    if (fate.status !== 'used') return fate
    const { transactionHash, logIndex, ...place } = fate
    // The token writes the transfer right after the use of its authorization.
    const logs = [{ transactionHash, logIndex: logIndex + 1 }]
    const mark = `${place.blockNumber} ${place.blockHash} ${transactionHash} ${logIndex}`
    const shown = { transactionHash, logs, takenAtomic: null }
    return { ...place, mark, isFinal: place.finality === 'finalized', shown }
  })
}
