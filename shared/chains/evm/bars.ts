/**
 * Reads the issuer's own bars on a stablecoin (FiatToken): a paused token and blocked addresses. They are
 * read together with the facts of the decision, so that nothing is signed that could not settle.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { Unavailable } from './rpc/answer.ts'
import type { InnerCall } from './rpc/multicall.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot, readWord } from './rpc/multicall.ts'
import type { ChainWorld } from './rpc/rpc.ts'
import { rpcFor } from './rpc/rpc.ts'

/** Reason why the token would not move now, as one endpoint shows it; see agreed-bars.ts. */
export type Barred = 'paused' | 'payer' | 'payee'

/** The token, payer and payee of a payment. */
export type Parties = { token: Token; wallet: Address; payee: Address }

const causes = ['paused', 'payer', 'payee'] as const

/** Makes the inner calls that read the bars, one for each cause. */
export function barCalls({ token, wallet, payee }: Parties): [InnerCall, InnerCall, InnerCall] {
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'paused' })
  return [{ target: token.address, callData }, barCall(token, wallet), barCall(token, payee)]
}

/** Makes the inner call that asks a token whether it blocks an address. */
export function barCall(token: Token, who: Address): InnerCall {
  const args = [who] as const
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'isBlacklisted', args })
  return { target: token.address, callData }
}

/** Reads the answers to `barCalls`. A token without these functions bars nobody. */
export function readBarred(answers: readonly (Hex | undefined)[]): { barred?: Barred } {
  const barred = barredBy(answers.map(isYes))
  return barred ? { barred } : {}
}

/** Returns the first cause that holds, in the order of `barCalls`. */
export function barredBy(isBarred: readonly boolean[]): Barred | undefined {
  return causes.find((_, index) => isBarred[index])
}

/** Returns true if the answer to one of these calls is true. */
export function isYes(answer: Hex | undefined): boolean {
  return readWord(answer) === 1n
}

/** Wallet balance of a token, and the bar on moving it to the payee, if any. Valid for one block. */
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
): Promise<BalanceAndBar | Unavailable> {
  const calls = [balanceCall(parties.token, parties.wallet), ...barCalls(parties)]
  const { method, params } = encodeSnapshot(chain, calls)
  const answer = await rpcFor(world, chain).request(method, params)
  const snapshot = decodeSnapshot(answer, calls.length)
  if (snapshot.status !== 'ok') return snapshot
  const [balance, ...answers] = snapshot.results
  const { blockNumber } = snapshot
  return {
    status: 'ok',
    blockNumber,
    tokenAtomic: readWord(balance) ?? 0n,
    ...readBarred(answers),
  }
}
