/**
 * Bars as several endpoints show them, so that no single one can have a payment refused. The others are
 * asked only where one shows a bar; who is silent shows none.
 */
import type { Address, Chain, Token } from '../chain.ts'
import type { Barred, Parties } from './bars.ts'
import { barCall, barCalls, barredBy, isYes } from './bars.ts'
import { isEnough } from './enough.ts'
import type { Inner } from './multicall.ts'
import { decodeSnapshot, encodeSnapshot } from './multicall.ts'
import type { ChainWorld } from './rpc.ts'
import { endpointsFor, rpcFor } from './rpc.ts'

/** Returns why the token would not move, as enough endpoints show; `seen` is the word of one. */
export async function agreedBar(
  world: ChainWorld,
  chain: Chain,
  parties: Parties,
  seen: Barred | undefined,
): Promise<Barred | undefined> {
  return seen && barredBy(await askAll(world, chain, barCalls(parties)))
}

/** Returns those of the chain's tokens whose issuer bars the address; a silent chain names none. */
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

/** Tells of each call whether enough endpoints answer it with yes. */
async function askAll(world: ChainWorld, chain: Chain, calls: readonly Inner[]) {
  const { method, params } = encodeSnapshot(chain, calls)
  const said = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      const snapshot = decodeSnapshot(await rpc.request(method, params), calls.length)
      return { operator, bars: snapshot.status === 'ok' ? snapshot.results.map(isYes) : [] }
    }),
  )
  return calls.map((_, index) =>
    isEnough(said.map(({ operator, bars }) => ({ operator, agrees: bars[index] === true }))),
  )
}
