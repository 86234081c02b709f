/**
 * Whether a nonce is spent, as one endpoint shows it. Believed alone it would have a payment taken for
 * settled, and not cancelled by a freeze, that can still be used; or sent again after it was used.
 */
import type { Chain } from '../chain.ts'
import { isUncontradicted } from './enough.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'
import type { NonceState } from './spending-block.ts'

/** How a nonce is shown. */
export type Shown = 'spent' | 'unspent'

/** Whether a nonce is so at every endpoint that answers, or at enough of them. */
export async function isBelieved(
  world: ChainWorld,
  chain: Chain,
  nonce: NonceState,
  state: Shown,
): Promise<boolean> {
  const asked = endpointsFor(world, chain).map(async ({ operator, rpc }) => {
    const seen = await readState(rpc, chain, nonce)
    return { operator, says: seen === undefined ? undefined : seen === state }
  })
  return isUncontradicted(await Promise.all(asked))
}

async function readState(
  rpc: Rpc,
  chain: Chain,
  { call, isSpent }: NonceState,
): Promise<Shown | undefined> {
  const [answer] = await rpc.batch([encodeSnapshot(chain, [call])])
  const snapshot = decodeSnapshot(answer)
  const word = snapshot.status === 'ok' ? readWord(snapshot.results[0]) : undefined
  if (word === undefined) return undefined
  return isSpent(word) ? 'spent' : 'unspent'
}
