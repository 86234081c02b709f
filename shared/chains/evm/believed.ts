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

/** A chain makes blocks more often; who knows none that is younger lags. */
const lagSeconds = 30n

/**
 * Whether a nonce is so at every endpoint that answers, or at enough of them. One that lags and does not
 * know it as spent contradicts nobody.
 */
export async function isBelieved(
  world: ChainWorld,
  chain: Chain,
  nonce: NonceState,
  state: Shown,
): Promise<boolean> {
  const now = BigInt(Math.floor(world.now().getTime() / 1000))
  const asked = endpointsFor(world, chain).map(async ({ operator, rpc }) => {
    const seen = await readState(rpc, chain, nonce)
    const isBehind = seen?.state === 'unspent' && seen.atSeconds < now - lagSeconds
    const isSo = seen?.state === state
    return { operator, says: seen === undefined || (isBehind && !isSo) ? undefined : isSo }
  })
  return isUncontradicted(await Promise.all(asked))
}

async function readState(
  rpc: Rpc,
  chain: Chain,
  { call, isSpent }: NonceState,
): Promise<{ state: Shown; atSeconds: bigint } | undefined> {
  const [answer] = await rpc.batch([encodeSnapshot(chain, [call])])
  const snapshot = decodeSnapshot(answer)
  const word = snapshot.status === 'ok' ? readWord(snapshot.results[0]) : undefined
  if (snapshot.status !== 'ok' || word === undefined) return undefined
  return { state: isSpent(word) ? 'spent' : 'unspent', atSeconds: snapshot.blockTimestampSeconds }
}
