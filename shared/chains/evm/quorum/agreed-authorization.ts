/** Determines the outcome of an EIP-3009 authorization from the logs that all endpoints of a chain show. */
import type { Chain } from '../../chain.ts'
import type { AuthorizationOutcome } from '../authorization.ts'
import type { Unavailable } from '../rpc/answer.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import type { AgreedOutcome } from './agreed-use.ts'
import { agreeOnUse } from './agreed-use.ts'

/** Asks each endpoint separately and combines the answers. */
export function agreeOnAuthorization(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<AuthorizationOutcome | Unavailable>,
): Promise<AgreedOutcome | Unavailable> {
  return agreeOnUse(world, chain, async (rpc) => {
    const outcome = await ask(rpc)
    if (outcome.status !== 'used') return outcome
    const { transactionHash, logIndex, ...place } = outcome
    // The token writes the Transfer log directly after the AuthorizationUsed log.
    const logs = [{ transactionHash, logIndex: logIndex + 1 }]
    const mark = `${place.blockNumber} ${place.blockHash} ${transactionHash} ${logIndex}`
    const shown = { transactionHash, logs, takenAtomic: null }
    return { ...place, mark, isFinal: place.finality === 'finalized', shown }
  })
}
