/**
 * Whether a Permit2 permit was used. Permit2 writes no log when it transfers: that a nonce is spent
 * stands in its bitmap alone.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Chain, Token } from '../chain.ts'
import { permit2Abi } from './abi.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { PermitUse } from './permit2-block.ts'
import { permit2Address } from './places.ts'
import type { Rpc } from './rpc.ts'
import type { NonceState } from './spending-block.ts'
import type { FinalUse, Unused } from './unused.ts'
import { headCalls, secondsOf, unusedAt } from './unused.ts'

/** What is asked of a chain: which token, and which permit. */
export type PermitQuestion = { chain: Chain; token: Token; permit: PermitUse }

/** Spent at the latest block. */
export type Spent = { status: 'spent'; latest: bigint; heads: readonly RpcAnswer[] } & FinalUse

/** Reads the bit of the nonce, with the ends of the chain. */
export async function readBitmap(
  rpc: Rpc,
  { chain, permit }: PermitQuestion,
): Promise<Spent | Unused | Unavailable> {
  const { call, isSpent } = nonceState(permit)
  const [state, finalState, ...headAnswers] = await rpc.batch([
    encodeSnapshot(chain, [call]),
    encodeSnapshot(chain, [call], 'finalized'),
    ...headCalls,
  ])
  const snapshot = decodeSnapshot(state, 1)
  if (snapshot.status !== 'ok') return snapshot
  const word = readWord(snapshot.results[0])
  if (word === undefined) return unavailable(`Permit2 is not on ${chain.caip2}`)
  if (!isSpent(word)) return unusedAt(snapshot, headAnswers[2])
  const final = decodeSnapshot(finalState, 1)
  const finalWord = final.status === 'ok' ? readWord(final.results[0]) : undefined
  const isFinal = finalWord !== undefined && isSpent(finalWord)
  const spent = { status: 'spent' as const, latest: snapshot.blockNumber, heads: headAnswers }
  return { ...spent, isFinal, finalSeconds: secondsOf(headAnswers[2]) }
}

/** Where the bit stands. */
export function nonceState({ from, nonce }: PermitUse): NonceState {
  const args = [from, BigInt(nonce) >> 8n] as const
  const callData = encodeFunctionData({ abi: permit2Abi, functionName: 'nonceBitmap', args })
  const isSpent = (word: bigint) => ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n
  return { call: { target: permit2Address, callData }, isSpent }
}
