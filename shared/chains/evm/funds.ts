/** Reads what a wallet can pay of a token now, and whom its tokens bar. */

import type { Address, Chain, Token } from '../chain.ts'
import { readWord } from '../hex.ts'
import type { Barred, Parties } from './bars.ts'
import { barCall, barCalls, isYes, readBarred } from './bars.ts'
import type { Unavailable } from './rpc/answer.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot } from './rpc/multicall.ts'
import type { ChainWorld } from './rpc/rpc.ts'
import { rpcFor } from './rpc/rpc.ts'
import type { OpenSignature } from './signature-use.ts'
import { sumUsed, useCall } from './signature-use.ts'

/**
 * Wallet balance of a token with what open signatures have taken from it, and the bar on moving it to the
 * payee, if any. Valid for one block.
 */
export type BalanceAndBar = {
  status: 'ok'
  blockNumber: bigint
  tokenAtomic: bigint
  barred?: Barred
}

/** Reads balance and bars at once. The balance is zero if the chain lacks the token. */
export async function readBalanceAndBar(
  world: ChainWorld,
  chain: Chain,
  parties: Parties,
  open: readonly OpenSignature[] = [],
): Promise<BalanceAndBar | Unavailable> {
  const bars = barCalls(parties)
  const calls = [balanceCall(parties.token, parties.wallet), ...bars, ...open.map(useCall)]
  const { method, params } = encodeSnapshot(chain, calls)
  const answer = await rpcFor(world, chain).request(method, params)
  const snapshot = decodeSnapshot(answer, calls.length)
  if (snapshot.status !== 'ok') return snapshot
  const [balance, ...answers] = snapshot.results
  const { blockNumber } = snapshot
  return {
    status: 'ok',
    blockNumber,
    tokenAtomic: (readWord(balance) ?? 0n) + sumUsed(open, answers.slice(bars.length)),
    ...readBarred(answers.slice(0, bars.length)),
  }
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
  if (snapshot.status !== 'ok') return []
  return chain.tokens.filter((_, index) => isYes(snapshot.results[index]))
}
