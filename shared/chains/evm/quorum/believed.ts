/**
 * Decides whether a nonce is unspent, from several endpoints. If one endpoint were believed alone, a
 * payment could be sent again after it was used.
 */
import type { Chain } from '../../chain.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from '../rpc/multicall.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import { endpointsFor } from '../rpc/rpc.ts'
import { answersUntil } from './answers-until.ts'
import { isQuorum, isUncontradicted } from './enough.ts'
import type { NonceState } from './spending-block.ts'

/** Returns true if all endpoints that answer show the nonce as unspent, or if a quorum does. */
export async function isAgreedUnspent(
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
    isQuorum(endpoints.map(({ operator }, at) => ({ operator, agrees: soFar[at]?.says === true }))),
  )
  return isUncontradicted(
    endpoints.map(({ operator }, at) => ({ operator, says: answers[at]?.says })),
  )
}

/** Returns true if an endpoint shows the nonce as unspent at block `since` or later. */
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
