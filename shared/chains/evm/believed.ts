/**
 * Whether a nonce is spent, as one endpoint shows it. Believed alone it would have a payment taken for
 * settled, and not cancelled by a freeze, that can still be used; or sent again after it was used.
 */
import type { Chain } from '../chain.ts'
import { answersUntil } from './answers-until.ts'
import { isEnough, isUncontradicted, lagBlocks } from './enough.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'
import type { NonceState } from './spending-block.ts'

/** How a nonce is shown. */
export type Shown = 'spent' | 'unspent'

/**
 * Whether a nonce is so at every endpoint that answers, or at enough of them. One that lags behind block
 * `since` and does not know it as spent contradicts nobody.
 */
export async function isBelieved(
  world: ChainWorld,
  chain: Chain,
  nonce: NonceState,
  state: Shown,
  since: bigint,
): Promise<boolean> {
  const endpoints = endpointsFor(world, chain)
  const asked = endpoints.map(async ({ operator, rpc }) => {
    const seen = await readState(rpc, chain, nonce)
    const isSo = seen?.state === state
    const isBehind = seen && seen.number < since && seen.number + lagBlocks >= since
    return { operator, says: !seen || (isBehind && !isSo) ? undefined : isSo }
  })
  const answers = await answersUntil(asked, (soFar) =>
    isEnough(endpoints.map(({ operator }, at) => ({ operator, agrees: soFar[at]?.says === true }))),
  )
  return isUncontradicted(
    endpoints.map(({ operator }, at) => ({ operator, says: answers[at]?.says })),
  )
}

/** Whether an endpoint shows a nonce as unspent in a block as high as `since`. */
export async function showsUnspent(rpc: Rpc, chain: Chain, nonce: NonceState, since: bigint) {
  const seen = await readState(rpc, chain, nonce)
  return seen?.state === 'unspent' && seen.number >= since
}

async function readState(
  rpc: Rpc,
  chain: Chain,
  { call, isSpent }: NonceState,
): Promise<{ state: Shown; number: bigint } | undefined> {
  const [answer] = await rpc.batch([encodeSnapshot(chain, [call])])
  const snapshot = decodeSnapshot(answer, 1)
  const word = snapshot.status === 'ok' ? readWord(snapshot.results[0]) : undefined
  if (snapshot.status !== 'ok' || word === undefined) return undefined
  return { state: isSpent(word) ? 'spent' : 'unspent', number: snapshot.blockNumber }
}
