/**
 * Reads the issuer's bars (paused token, blocked address) from several endpoints, so that no single
 * endpoint can have a payment refused. The others are asked only after one shows a bar. A silent endpoint
 * counts as showing none.
 */
import type { Address, Chain, Token } from '../../chain.ts'
import type { Barred, Parties } from '../bars.ts'
import { barCall, barCalls, barredBy, isYes } from '../bars.ts'
import type { InnerCall } from '../rpc/multicall.ts'
import { decodeSnapshot, encodeSnapshot } from '../rpc/multicall.ts'
import type { ChainWorld } from '../rpc/rpc.ts'
import { endpointsFor, rpcFor } from '../rpc/rpc.ts'
import { isQuorum } from './enough.ts'

/** Returns why the token would not move, as a quorum of endpoints shows. `seen` comes from one endpoint. */
export async function agreedBar(
  world: ChainWorld,
  chain: Chain,
  parties: Parties,
  seen: Barred | undefined,
): Promise<Barred | undefined> {
  return seen && barredBy(await askAll(world, chain, barCalls(parties)))
}

/** Returns the chain's tokens whose issuer bars the address; none if the chain does not answer. */
export async function tokensBarring(
  world: ChainWorld,
  chain: Chain,
  address: Address,
): Promise<Token[]> {
  const calls = chain.tokens.map((token) => barCall(token, address))
  const { method, params } = encodeSnapshot(chain, calls)
  const answer = await rpcFor(world, chain).request(method, params)
  const snapshot = decodeSnapshot(answer, calls.length)
  if (snapshot.status !== 'ok' || !snapshot.results.some(isYes)) return []
  const isBarred = await askAll(world, chain, calls)
  return chain.tokens.filter((_, index) => isBarred[index])
}

/** Returns for each call whether a quorum of endpoints answers it with true. */
async function askAll(world: ChainWorld, chain: Chain, calls: readonly InnerCall[]) {
  const { method, params } = encodeSnapshot(chain, calls)
  const said = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      const snapshot = decodeSnapshot(await rpc.request(method, params), calls.length)
      return { operator, bars: snapshot.status === 'ok' ? snapshot.results.map(isYes) : [] }
    }),
  )
  return calls.map((_, index) =>
    isQuorum(said.map(({ operator, bars }) => ({ operator, agrees: bars[index] === true }))),
  )
}
