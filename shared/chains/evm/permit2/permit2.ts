/**
 * Reads whether the nonce of a Permit2 permit is spent. Permit2 writes no log when it transfers; only its
 * bitmap shows that a nonce is spent.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Chain, Token } from '../../chain.ts'
import { permit2Abi } from '../abi.ts'
import type { NonceState } from '../quorum/spending-block.ts'
import type { FinalUse, Unused } from '../quorum/unused.ts'
import { headCalls, secondsOf, unusedAt } from '../quorum/unused.ts'
import type { RpcAnswer, Unavailable } from '../rpc/answer.ts'
import { unavailable } from '../rpc/answer.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from '../rpc/multicall.ts'
import { permit2Address } from '../rpc/places.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { PermitUse } from './permit2-block.ts'

/** Chain, token and permit that are asked about. */
export type PermitQuestion = { chain: Chain; token: Token; permit: PermitUse }

/** State of a nonce that is spent at the latest block. */
export type Spent = { status: 'spent'; latest: bigint; heads: readonly RpcAnswer[] } & FinalUse

/** Reads the bit of the nonce, and the heads of the chain. */
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

/** Returns the call that reads the bitmap word of the nonce, and the test of its bit. */
export function nonceState({ from, nonce }: PermitUse): NonceState {
  const args = [from, BigInt(nonce) >> 8n] as const
  const callData = encodeFunctionData({ abi: permit2Abi, functionName: 'nonceBitmap', args })
  const isSpent = (word: bigint) => ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n
  return { call: { target: permit2Address, callData }, isSpent }
}
