/**
 * Locates our own blocks and transactions, with their finality by the node's own tags. The token's logs
 * show whether a transaction contains a payment; its status says only that it did not revert.
 */
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { positionSchema, quantitySchema, wordSchema } from '../hex.ts'
import { listOf } from '../list.ts'
import type { RpcCall } from './rpc/answer.ts'
import { isFound, readAnswer } from './rpc/answer.ts'
import { logSchema } from './rpc/log-ranges.ts'
import { sameHex } from './rpc/logs.ts'
import type { ChainWorld, Rpc } from './rpc/rpc.ts'
import { rpcFor, rpcsFor } from './rpc/rpc.ts'
import type { BlockPosition } from './settlement.ts'
import { blockPositionOf, headCalls, parseHeadHeights } from './settlement.ts'

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
export const receiptsPerRequest = 16

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
    const read = readAnswer(answers[at], rpcReceiptSchema.nullable())
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
  const read = readAnswer(block, hashSchema)
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
export async function replacedBy(
  rpc: Rpc,
  { number, hash }: { number: number; hash: string },
): Promise<boolean | undefined> {
  const calls = [hashCall(number), ...headCalls.slice(0, 1)]
  const [answer, ...heads] = await rpc.batch(calls, { isEnough: isFound })
  const read = readAnswer(answer, hashSchema)
  if ('status' in read) return undefined
  if (read.value) return !sameHex(read.value.hash, hash)
  const [latest] = parseHeadHeights(heads)
  return latest !== undefined && BigInt(number) > latest + aheadMax ? true : undefined
}

function hashCall(number: number) {
  return { method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] }
}
