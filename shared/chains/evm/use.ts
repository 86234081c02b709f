/**
 * Finds the transfer for which a signature of a wallet was used, as one endpoint shows it now. It is for
 * whoever asks; what counts is written from final blocks.
 */
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import { type Hex, hexOf, positionSchema, quantitySchema, sameHex, wordSchema } from '../hex.ts'
import { listOf } from '../registry.ts'
import { isFound, type RpcCall, readRpcAnswer, type Unavailable } from './rpc/endpoints.ts'
import {
  hasLogs,
  logSchema,
  placedLogs,
  readAuthorizationEnd,
  readTransfer,
  useTopic,
  wordOf,
} from './rpc/logs.ts'
import { type ChainWorld, type Rpc, rpcFor, rpcsFor } from './rpc/rpc.ts'
import { type BlockPosition, blockPositionOf, headCalls, parseHeadHeights } from './settlement.ts'

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
  const read = readRpcAnswer(answer, placedLogs)
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

/** Block position of a transaction. */
type Inclusion = BlockPosition & { transactionHash: Hex }

const logsMax = 2_000

/** Schema of a receipt as a node answers it. A receipt with more than `logsMax` logs is not read. */
export const rpcReceiptSchema = z.object({
  transactionHash: wordSchema,
  blockNumber: positionSchema,
  blockHash: wordSchema,
  status: quantitySchema,
  logs: listOf(logSchema, logsMax),
})

/** A receipt with its block position. `status` is 1 if the transaction did not revert. */
export type PlacedReceipt = z.output<typeof rpcReceiptSchema> & Inclusion

/** Receipts per HTTP request. The receipt of a full batch of transfers has about 40 kB. */
const receiptsPerRequest = 16

/** Makes the calls that read the receipts of transactions. */
export function receiptCalls(hashes: readonly Hex[]): RpcCall[] {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
}

/**
 * Reads all receipts, by transaction hash. An endpoint may lag, have lost a receipt or fail to answer, so
 * each one that it does not show is read from the next. Null: not on the chain as far as they know. Missing
 * from the map: no endpoint answered.
 */
export async function readReceipts(
  world: ChainWorld,
  chain: Chain,
  hashes: readonly Hex[],
  endpoints = rpcsFor(world, chain),
): Promise<Map<Hex, PlacedReceipt | null>> {
  const receipts = new Map<Hex, PlacedReceipt | null>()
  for (const rpc of endpoints) {
    const missing = hashes.filter((hash) => !receipts.get(hash))
    for (let start = 0; start < missing.length; start += receiptsPerRequest) {
      const part = missing.slice(start, start + receiptsPerRequest)
      const read = await readReceiptPart(rpc, part)
      for (const [hash, receipt] of read) receipts.set(hash, receipt)
      // A silent endpoint would take its full time for each part.
      if (read.size === 0) break
    }
  }
  return receipts
}

async function readReceiptPart(
  rpc: Rpc,
  hashes: readonly Hex[],
): Promise<Map<Hex, PlacedReceipt | null>> {
  const answers = await rpc.batch([...receiptCalls(hashes), ...headCalls])
  const heads = parseHeadHeights(answers.slice(hashes.length))
  const receipts = new Map<Hex, PlacedReceipt | null>()
  for (const [at, hash] of hashes.entries()) {
    const read = readRpcAnswer(answers[at], rpcReceiptSchema.nullable())
    if ('status' in read) continue
    if (!read.value) receipts.set(hash, null)
    else if (sameHex(read.value.transactionHash, hash)) {
      const { blockNumber: number, blockHash } = read.value
      receipts.set(hash, { ...read.value, ...blockPositionOf({ number, hash: blockHash }, heads) })
    }
  }
  return receipts
}

const hashSchema = z.object({ hash: wordSchema }).nullable()

/** Returns the position of a block; undefined if no endpoint shows it at its height. */
export async function readBlockPosition(
  world: ChainWorld,
  chain: Chain,
  { number, hash }: { number: number; hash: Hex },
): Promise<BlockPosition | undefined> {
  const calls = [hashCall(number), ...headCalls]
  const [block, ...heads] = await rpcFor(world, chain).batch(calls, { isEnough: isFound })
  const read = readRpcAnswer(block, hashSchema)
  const isThere = 'value' in read && read.value && sameHex(read.value.hash, hash)
  return isThere
    ? blockPositionOf({ number: BigInt(number), hash }, parseHeadHeights(heads))
    : undefined
}

/**
 * Returns true if another block stands at this height, which proves that the block is gone. A missing
 * receipt proves nothing, because a lagging node answers the same. Returns undefined if the node does not
 * say.
 */
export async function isBlockReplaced(
  world: ChainWorld,
  chain: Chain,
  block: { number: number; hash: string },
): Promise<boolean | undefined> {
  return replacedBy(rpcFor(world, chain), block)
}

/** Longest lag of a node, in blocks. A block that is further ahead than that does not exist. */
const aheadMax = 10_000n

/** Reads the same from one endpoint, or from endpoints in turn. */
async function replacedBy(
  rpc: Rpc,
  { number, hash }: { number: number; hash: string },
): Promise<boolean | undefined> {
  const calls = [hashCall(number), ...headCalls.slice(0, 1)]
  const [answer, ...heads] = await rpc.batch(calls, { isEnough: isFound })
  const read = readRpcAnswer(answer, hashSchema)
  if ('status' in read) return undefined
  if (read.value) return !sameHex(read.value.hash, hash)
  const [latest] = parseHeadHeights(heads)
  return latest !== undefined && BigInt(number) > latest + aheadMax ? true : undefined
}

function hashCall(number: number) {
  return { method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] }
}
