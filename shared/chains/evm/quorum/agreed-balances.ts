/**
 * Reads token balances at one block, as a quorum of endpoints shows them. The result can freeze an account,
 * so a quorum must give the same balances for the same block.
 */
import * as z from 'zod'
import type { Address, Chain, Token } from '../../chain.ts'
import type { Hex } from '../../hex.ts'
import { readWord, wordSchema } from '../../hex.ts'
import type { Unavailable } from '../rpc/answer.ts'
import { readAnswer, unavailable } from '../rpc/answer.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot } from '../rpc/multicall.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import type { Agreed } from './agreement.ts'
import { findAgreed } from './agreement.ts'

/** A wallet and a token that it may hold. */
export type WalletToken = { wallet: Address; token: Token }

/** Amounts in the order of the holdings. An amount is undefined if the chain lacks the token. */
export type AgreedBalances = { blockHash: Hex; amounts: (bigint | undefined)[] }

/** Reads at most 97 holdings at the block with this number. */
export function readAgreedBalances(
  world: ChainWorld,
  chain: Chain,
  block: number,
  holdings: readonly WalletToken[],
): Promise<Agreed<AgreedBalances>> {
  return findAgreed(world, chain, (rpc) => readBalancesAtBlock(rpc, chain, block, holdings))
}

const hashSchema = z.object({ hash: wordSchema })

async function readBalancesAtBlock(
  rpc: Rpc,
  chain: Chain,
  block: number,
  holdings: readonly WalletToken[],
): Promise<AgreedBalances | Unavailable> {
  const height = `0x${block.toString(16)}`
  const hashCall = { method: 'eth_getBlockByNumber', params: [height, false] }
  const calls = holdings.map(({ token, wallet }) => balanceCall(token, wallet))
  const [before, state, after] = await rpc.batch([
    hashCall,
    encodeSnapshot(chain, calls, height),
    // A different hash here shows that the block was replaced between the reads.
    hashCall,
  ])
  const [hash, last] = [before, after].map((answer) => readAnswer(answer, hashSchema))
  if (!hash || !last) return unavailable('no answer')
  if ('status' in hash) return hash
  if ('status' in last) return last
  const snapshot = decodeSnapshot(state, calls.length)
  if (snapshot.status !== 'ok') return snapshot
  if (snapshot.blockNumber !== BigInt(block) || hash.value.hash !== last.value.hash) {
    return unavailable('the block was replaced')
  }
  return { blockHash: hash.value.hash, amounts: snapshot.results.map(readWord) }
}
