/**
 * What addresses hold of tokens at one block, as several endpoints say. An account may be frozen by it,
 * so enough endpoints have to say the same of the same block.
 */
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { wordSchema } from '../hex.ts'
import type { Agreed } from './agreement.ts'
import { findAgreed } from './agreement.ts'
import type { Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld, Rpc } from './rpc.ts'

/** A wallet and a token that it may hold. */
export type Holding = { wallet: Address; token: Token }

/** Amounts in the order of the holdings, undefined where there is no such token. */
export type Balances = { blockHash: Hex; amounts: (bigint | undefined)[] }

/** At most 97 holdings, at the block of this number. */
export function readAgreedBalances(
  world: ChainWorld,
  chain: Chain,
  block: number,
  holdings: readonly Holding[],
): Promise<Agreed<Balances>> {
  return findAgreed(world, chain, (rpc) => readBalances(rpc, chain, block, holdings))
}

const hashSchema = z.object({ hash: wordSchema })

async function readBalances(
  rpc: Rpc,
  chain: Chain,
  block: number,
  holdings: readonly Holding[],
): Promise<Balances | Unavailable> {
  const height = `0x${block.toString(16)}`
  const hashCall = { method: 'eth_getBlockByNumber', params: [height, false] }
  const calls = holdings.map(({ token, wallet }) => balanceCall(token, wallet))
  const [before, state, after] = await rpc.batch([
    hashCall,
    encodeSnapshot(chain, calls, height),
    // Had the block been replaced meanwhile, another hash would stand here.
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
