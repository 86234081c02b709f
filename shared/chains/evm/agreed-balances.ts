/**
 * What addresses hold of tokens at one block, as several endpoints say. An account may be frozen by it,
 * so of several endpoints at least two that know the block have to say the same.
 */
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import { wordSchema } from '../hex.ts'
import { readAnswer } from './answer.ts'
import { sameHex } from './logs.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcsFor } from './rpc.ts'
import type { Block } from './transfers.ts'

/** A wallet and a token that it may hold. */
export type Holding = { wallet: Address; token: Token }

/** `silent`: too few endpoints know the block, or what was held at it. */
export type AgreedBalances =
  | { status: 'agreed'; amounts: (bigint | undefined)[] }
  | { status: 'silent' | 'disagreed' }

/** So many endpoints have to agree, or all where there are fewer. */
const agreeingMin = 2

/** At most 97 holdings; the amounts stand in their order, undefined where there is no such token. */
export async function readAgreedBalances(
  world: ChainWorld,
  chain: Chain,
  block: Block,
  holdings: readonly Holding[],
): Promise<AgreedBalances> {
  const rpcs = rpcsFor(world, chain)
  const said = await Promise.all(rpcs.map((rpc) => readBalances(rpc, chain, block, holdings)))
  const known = said.filter((amounts) => amounts !== undefined)
  const [first] = known
  if (!first || known.length < Math.min(agreeingMin, rpcs.length)) return { status: 'silent' }
  const isSame = known.every((amounts) => amounts.every((amount, at) => amount === first[at]))
  return isSame ? { status: 'agreed', amounts: first } : { status: 'disagreed' }
}

const hashSchema = z.object({ hash: wordSchema })

/** Undefined where another block stands at this height, or the endpoint does not say. */
async function readBalances(
  rpc: Rpc,
  chain: Chain,
  block: Block,
  holdings: readonly Holding[],
): Promise<(bigint | undefined)[] | undefined> {
  const height = `0x${block.number.toString(16)}`
  const calls = holdings.map(({ token, wallet }) => balanceCall(token, wallet))
  const [state, header] = await rpc.batch([
    encodeSnapshot(chain, calls, height),
    // After the state: had the block been replaced before, another hash would stand here.
    { method: 'eth_getBlockByNumber', params: [height, false] },
  ])
  const read = readAnswer(header, hashSchema)
  const snapshot = decodeSnapshot(state)
  if (!('value' in read) || !sameHex(read.value.hash, block.hash)) return undefined
  if (snapshot.status !== 'ok' || snapshot.blockNumber !== BigInt(block.number)) return undefined
  return snapshot.results.map(readWord)
}
