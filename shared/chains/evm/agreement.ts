/**
 * Finds what enough endpoints answer alike, for what one must not establish alone. Each is asked separately
 * and answers from its own state. A silent endpoint agrees to nothing.
 */
import * as z from 'zod'
import { sha256Hex } from '../../digest.ts'
import type { Address, Chain, Token } from '../chain.ts'
import { type Hex, quantitySchema, readWord, wordSchema } from '../hex.ts'
import { isQuorum } from './quorum/enough.ts'
import { readRpcAnswer, type Unavailable, unavailable } from './rpc/endpoints.ts'
import { balanceCall, decodeSnapshot, encodeSnapshot } from './rpc/multicall.ts'
import { type ChainWorld, endpointsFor, type Rpc } from './rpc/rpc.ts'
import { readUsed, type SignatureNonce, useCall } from './signature-use.ts'

/** Answer of a quorum. `disagreed`: there is no quorum, and two endpoints contradict each other. */
export type Agreed<Answer> =
  | { status: 'agreed'; answer: Answer }
  | { status: 'disagreed'; log: string }
  | Unavailable

/**
 * Asks one endpoint after the other until a quorum gave the same answer, including what is absent from it.
 * With two endpoints both must agree; with more, two of different operators suffice.
 */
export async function findAgreed<Answer extends object>(
  world: ChainWorld,
  chain: Chain,
  ask: (rpc: Rpc) => Promise<Answer | Unavailable>,
): Promise<Agreed<Answer>> {
  const endpoints = endpointsFor(world, chain)
  const said = new Map<Rpc, string>()
  let silence = unavailable('no endpoint')
  for (const { rpc } of endpoints) {
    const answer = await ask(rpc)
    if (isUnavailable(answer)) {
      silence = answer
      continue
    }
    const own = await sha256Hex(comparableText(answer))
    said.set(rpc, own)
    const votes = endpoints.map((one) => ({ ...one, agrees: said.get(one.rpc) === own }))
    if (isQuorum(votes)) return { status: 'agreed', answer }
  }
  const isContradicted = new Set(said.values()).size > 1
  return isContradicted ? { status: 'disagreed', log: 'endpoints disagree' } : silence
}

function isUnavailable(answer: object): answer is Unavailable {
  return 'status' in answer && answer.status === 'unavailable'
}

function comparableText(answer: object): string {
  return JSON.stringify(answer, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

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
  const [hash, last] = [before, after].map((answer) => readRpcAnswer(answer, hashSchema))
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

/** A signature that no block of the time `endSeconds` or later takes. */
export type EndedSignature = SignatureNonce & { endSeconds: number }

/** Ending of a signature. */
export type Ending = 'used' | 'unused'

/** Returns how each of at most 97 signatures ended; undefined where no quorum of endpoints says it. */
export async function readAgreedEndings(
  world: ChainWorld,
  chain: Chain,
  signatures: readonly EndedSignature[],
): Promise<(Ending | undefined)[]> {
  const reports = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      return { operator, endings: await readEndings(rpc, chain, signatures) }
    }),
  )
  return signatures.map((_, at) =>
    (['used', 'unused'] as const).find((ending) =>
      isQuorum(
        reports.map(({ operator, endings }) => ({ operator, agrees: endings[at] === ending })),
      ),
    ),
  )
}

const blockSchema = z.object({ number: quantitySchema, timestamp: quantitySchema })

async function readEndings(
  rpc: Rpc,
  chain: Chain,
  signatures: readonly EndedSignature[],
): Promise<(Ending | undefined)[]> {
  const finalCall = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
  const [block, state] = await rpc.batch([
    finalCall,
    encodeSnapshot(chain, signatures.map(useCall)),
  ])
  const final = readRpcAnswer(block, blockSchema)
  const snapshot = decodeSnapshot(state, signatures.length)
  // Another backend may answer for the state and lag behind the final block.
  if ('status' in final || snapshot.status !== 'ok') return []
  if (snapshot.blockNumber < final.value.number) return []
  return signatures.map((signature, at) => {
    const isUsed = readUsed(signature, snapshot.results[at])
    if (isUsed === undefined || final.value.timestamp < signature.endSeconds) return undefined
    return isUsed ? 'used' : 'unused'
  })
}
