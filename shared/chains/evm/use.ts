/**
 * Finds the transfer for which a signature of a wallet was used, as one endpoint shows it now. It is for
 * whoever asks; what counts is written from final blocks.
 */
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { hexOf } from '../hex.ts'
import { readReceipts } from './proof.ts'
import type { RpcCall, Unavailable } from './rpc/answer.ts'
import { readAnswer } from './rpc/answer.ts'
import { hasLogs, placedLogs } from './rpc/log-ranges.ts'
import { readAuthorizationEnd, readTransfer, sameHex, useTopic, wordOf } from './rpc/logs.ts'
import type { ChainWorld } from './rpc/rpc.ts'
import { rpcFor } from './rpc/rpc.ts'
import type { BlockPosition } from './settlement.ts'
import { blockPositionOf, headCalls, parseHeadHeights } from './settlement.ts'

/** Signature that is asked about: an authorization by its nonce, or a permit by its claimed transaction. */
export type UseQuestion = {
  chain: Chain
  token: Token
  from: Address
  to: Address
  amountAtomic: bigint
} & ({ nonce: Hex; since: bigint | undefined } | { transaction: Hex | undefined })

/** Transfer with its block, and the amount that it moved. */
export type Use = BlockPosition & { transactionHash: Hex; logIndex: number; takenAtomic: bigint }

/** Returns the transfer; `unused` if the endpoint shows none. */
export function readUse(
  world: ChainWorld,
  question: UseQuestion,
): Promise<Use | 'unused' | Unavailable> {
  return 'nonce' in question ? readByNonce(world, question) : readInTransaction(world, question)
}

/** Blocks to look back where it is not known when it was signed; nodes commonly refuse more than 10,000. */
const searchBlocksMax = 9_000n
/** Position that no log has behind which another one could be. */
const logIndexMax = 2_147_483_647n

/** Reads the log that EIP-3009 tokens write directly before the transfer. */
async function readByNonce(
  world: ChainWorld,
  question: Extract<UseQuestion, { nonce: Hex }>,
): Promise<Use | 'unused' | Unavailable> {
  const { chain, from, nonce, amountAtomic: takenAtomic } = question
  const rpc = rpcFor(world, chain)
  const since = question.since ?? (await oldestSearched(world, chain))
  const [answer, ...heads] = await rpc.batch([usesCall(question, since), ...headCalls], {
    isEnough: hasLogs,
  })
  const read = readAnswer(answer, placedLogs)
  if ('status' in read) return read
  const log = read.value.find(
    (one) => readAuthorizationEnd(one, from, nonce) === 'used' && one.logIndex < logIndexMax,
  )
  if (!log) return 'unused'
  const { blockNumber: number, blockHash: hash, transactionHash, logIndex } = log
  const place = blockPositionOf({ number, hash }, parseHeadHeights(heads))
  return { ...place, transactionHash, logIndex: Number(logIndex) + 1, takenAtomic }
}

function usesCall(
  { token: { address }, from, nonce }: Extract<UseQuestion, { nonce: Hex }>,
  since: bigint,
): RpcCall {
  const topics = [useTopic, wordOf(from), nonce]
  const filter = { address, fromBlock: hexOf(since), toBlock: 'latest', topics }
  return { method: 'eth_getLogs', params: [filter] }
}

async function oldestSearched(world: ChainWorld, chain: Chain): Promise<bigint> {
  const [latest = 0n] = parseHeadHeights(await rpcFor(world, chain).batch(headCalls.slice(0, 1)))
  return latest > searchBlocksMax ? latest - searchBlocksMax : 0n
}

/** Looks for a transfer to the payee in the transaction that the merchant named. */
async function readInTransaction(
  world: ChainWorld,
  question: Extract<UseQuestion, { transaction: unknown }>,
): Promise<Use | 'unused'> {
  const { chain, token, from, to, amountAtomic, transaction } = question
  if (transaction === undefined) return 'unused'
  const receipt = (await readReceipts(world, chain, [transaction])).get(transaction)
  for (const [at, log] of (receipt?.logs ?? []).entries()) {
    const moved = sameHex(log.address, token.address) ? readTransfer(log) : undefined
    // A transfer by authorization has its use directly before it.
    const isByPermit = receipt?.logs[at - 1]?.topics[0] !== useTopic
    const isIts = moved && isByPermit && sameHex(moved.from, from) && sameHex(moved.to, to)
    if (!receipt || !isIts || moved.value === 0n || moved.value > amountAtomic) continue
    const { blockNumber, blockHash, confirmations, finality } = receipt
    const place = { blockNumber, blockHash, confirmations, finality }
    return {
      ...place,
      transactionHash: transaction,
      logIndex: Number(log.logIndex),
      takenAtomic: moved.value,
    }
  }
  return 'unused'
}
