/**
 * Reads the token and native balances of addresses, in one round trip per chain. Balances are read at the
 * latest block, which a reorganization can still undo, so the result names the block.
 */

import type { Address, Chain, Token } from '../chain.ts'
import { readWord } from '../hex.ts'
import type { RpcAnswer, Unavailable } from './rpc/answer.ts'
import { unavailable } from './rpc/answer.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot, nativeCall } from './rpc/multicall.ts'
import type { ChainWorld } from './rpc/rpc.ts'
import { rpcFor } from './rpc/rpc.ts'

/** Balance of one token. `absent`: the chain has no such contract, so the amount is zero. */
export type TokenBalance = { token: Token; amountAtomic: bigint; absent: boolean }

/** Answer of one chain. Native amounts are in wei, in the order in which they were requested. */
export type WalletBalances = {
  status: 'ok'
  blockNumber: bigint
  blockTimestampSeconds: bigint
  tokens: TokenBalance[]
  nativeWei: bigint
  extraNativeWei: bigint[]
}

const timeoutMilliseconds = 3_000

/** Reads the tokens and native coin of an address, and the native coin of further addresses. */
export async function readBalances(
  world: ChainWorld,
  chain: Chain,
  wanted: { address: Address; tokens: readonly Token[]; extraNative?: readonly Address[] },
): Promise<WalletBalances | Unavailable> {
  const { address, tokens, extraNative = [] } = wanted
  const natives = [address, ...extraNative]
  const calls = [...tokens.map((token) => balanceCall(token, address)), ...natives.map(nativeCall)]
  const { method, params } = encodeSnapshot(chain, calls)
  const read = (told: RpcAnswer | undefined) => decodeSnapshot(told, calls.length)
  const isEnough = ([told]: readonly RpcAnswer[]) => read(told).status === 'ok'
  const limits = { timeoutMilliseconds, isEnough }
  const answer = await rpcFor(world, chain).request(method, params, limits)
  const snapshot = read(answer)
  if (snapshot.status !== 'ok') return snapshot
  const words = snapshot.results.map(readWord)
  const [nativeWei, ...extraNativeWei] = words
    .slice(tokens.length)
    .filter((word) => word !== undefined)
  if (nativeWei === undefined || extraNativeWei.length !== extraNative.length) {
    return unavailable('a native balance is missing')
  }
  const { blockNumber, blockTimestampSeconds } = snapshot
  return {
    status: 'ok',
    blockNumber,
    blockTimestampSeconds,
    tokens: tokens.map((token, index) => tokenBalance(token, words[index])),
    nativeWei,
    extraNativeWei,
  }
}

function tokenBalance(token: Token, word: bigint | undefined): TokenBalance {
  return { token, amountAtomic: word ?? 0n, absent: word === undefined }
}
