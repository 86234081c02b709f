/**
 * What an issuer's contract refuses by its own rules (FiatToken): a paused token, and an address that
 * is barred. Read with what is decided from it, so that nothing is signed that could not settle.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { Unavailable } from './answer.ts'
import type { Inner } from './multicall.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** Why the token would not move now, by the word of one endpoint; see agreed-bars.ts. */
export type Barred = 'paused' | 'payer' | 'payee'

/** Whose payment it would be. */
export type Parties = { token: Token; wallet: Address; payee: Address }

const causes = ['paused', 'payer', 'payee'] as const

/** The inner calls that tell it, one for each cause. */
export function barCalls({ token, wallet, payee }: Parties): [Inner, Inner, Inner] {
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'paused' })
  return [{ target: token.address, callData }, barCall(token, wallet), barCall(token, payee)]
}

/** Makes the inner call that asks a token whether it bars an address. */
export function barCall(token: Token, who: Address): Inner {
  const args = [who] as const
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'isBlacklisted', args })
  return { target: token.address, callData }
}

/** Reads the answers to `barCalls`; a token without these functions bars nobody. */
export function readBarred(answers: readonly (Hex | undefined)[]): { barred?: Barred } {
  const barred = barredBy(answers.map(isYes))
  return barred ? { barred } : {}
}

/** Names the first cause that holds, of those that `barCalls` ask for. */
export function barredBy(isBarred: readonly boolean[]): Barred | undefined {
  return causes.find((_, index) => isBarred[index])
}

/** Reads the answer to one of the calls. */
export function isYes(answer: Hex | undefined): boolean {
  return readWord(answer) === 1n
}

/** What a wallet holds of a token, and whether that may move to the payee; true for one block. */
export type Holding = { status: 'ok'; blockNumber: bigint; tokenAtomic: bigint; barred?: Barred }

/** Reads both at once. A token that is not on the chain is held by nobody. */
export async function readHolding(
  world: ChainWorld,
  chain: Chain,
  parties: Parties,
): Promise<Holding | Unavailable> {
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
