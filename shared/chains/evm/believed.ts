/**
 * Whether a nonce is unspent, as endpoints show it. One believed alone would have a payment sent again after
 * it was used.
 */
import type { Chain } from '../chain.ts'
import { answersUntil } from './answers-until.ts'
import { isEnough, isUncontradicted } from './enough.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { endpointsFor } from './rpc.ts'
import type { NonceState } from './spending-block.ts'

/** Whether it is so at every endpoint that answers, or at enough of them. */
export async function isBelievedUnspent(
  world: ChainWorld,
  chain: Chain,
  nonce: NonceState,
): Promise<boolean> {
  const endpoints = endpointsFor(world, chain)
  const asked = endpoints.map(async ({ operator, rpc }) => {
    const seen = await readState(rpc, chain, nonce)
    return { operator, says: seen && !seen.isSpent }
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
  return seen !== undefined && !seen.isSpent && seen.number >= since
}

async function readState(
  rpc: Rpc,
  chain: Chain,
  { call, isSpent }: NonceState,
): Promise<{ isSpent: boolean; number: bigint } | undefined> {
  const [answer] = await rpc.batch([encodeSnapshot(chain, [call])])
  const snapshot = decodeSnapshot(answer, 1)
  const word = snapshot.status === 'ok' ? readWord(snapshot.results[0]) : undefined
  if (snapshot.status !== 'ok' || word === undefined) return undefined
  return { isSpent: isSpent(word), number: snapshot.blockNumber }
}
