/**
 * Where blocks and transactions of our own stand, and how final that is by the node's own tags. Whether
 * a payment is in a transaction is told by the token's logs: its status says only that it ran.
 */
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { positionSchema, quantitySchema, wordSchema } from '../hex.ts'
import { listOf } from '../list.ts'
import type { RpcCall } from './answer.ts'
import { isFound, readAnswer } from './answer.ts'
import { logSchema } from './log-ranges.ts'
import { sameHex } from './logs.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcFor, rpcsFor } from './rpc.ts'
import type { Place } from './settlement.ts'
import { placeOf, readHeads } from './settlement.ts'
import { headCalls } from './unused.ts'

/** Where a transaction stands. */
type Inclusion = Place & { transactionHash: Hex }

const logsMax = 2_000

/** A receipt as a node answers it; one with more logs than this is not read. */
export const receiptSchema = z.object({
  transactionHash: wordSchema,
  blockNumber: positionSchema,
  blockHash: wordSchema,
  status: quantitySchema,
  logs: listOf(logSchema, logsMax),
})

/** A receipt in its place; `status` is 1 when the transaction did not revert. */
export type PlacedReceipt = z.output<typeof receiptSchema> & Inclusion

/** Receipts in one HTTP request; one of a full batch of transfers has about 40 kB. */
export const receiptsPerRequest = 16

/** Asks for the receipts of transactions. */
export function receiptCalls(hashes: readonly Hex[]): RpcCall[] {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
}

/**
 * Reads all of them, by the hash that was asked for. An endpoint may lag, have lost one or not be able to
 * answer it, so what one does not show the next is asked for. Null: not on the chain as far as they know;
 * left out: nobody said.
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
      const read = await readPart(rpc, part)
      for (const [hash, receipt] of read) receipts.set(hash, receipt)
      // One that is silent would take its time for each part.
      if (read.size === 0) break
    }
  }
  return receipts
}

async function readPart(rpc: Rpc, hashes: readonly Hex[]): Promise<Map<Hex, PlacedReceipt | null>> {
  const answers = await rpc.batch([...receiptCalls(hashes), ...headCalls])
  const heads = readHeads(answers.slice(hashes.length))
  const receipts = new Map<Hex, PlacedReceipt | null>()
  for (const [at, hash] of hashes.entries()) {
    const read = readAnswer(answers[at], receiptSchema.nullable())
    if ('status' in read) continue
    if (!read.value) receipts.set(hash, null)
    else if (sameHex(read.value.transactionHash, hash)) {
      const { blockNumber: number, blockHash } = read.value
      receipts.set(hash, { ...read.value, ...placeOf({ number, hash: blockHash }, heads) })
    }
  }
  return receipts
}

const hashSchema = z.object({ hash: wordSchema }).nullable()

/** Where a block stands now; undefined while no endpoint shows it at its height. */
export async function readPlace(
  world: ChainWorld,
  chain: Chain,
  { number, hash }: { number: number; hash: Hex },
): Promise<Place | undefined> {
  const calls = [hashCall(number), ...headCalls]
  const [block, ...heads] = await rpcFor(world, chain).batch(calls, { isEnough: isFound })
  const read = readAnswer(block, hashSchema)
  const isThere = 'value' in read && read.value && sameHex(read.value.hash, hash)
  return isThere ? placeOf({ number: BigInt(number), hash }, readHeads(heads)) : undefined
}

/**
 * Whether another block now stands at this height: the one proof that what was included is gone. A
 * missing receipt is none, because a lagging node answers that too. Undefined when the node does not
 * say.
 */
export async function isBlockReplaced(
  world: ChainWorld,
  chain: Chain,
  block: { number: number; hash: string },
): Promise<boolean | undefined> {
  return replacedBy(rpcFor(world, chain), block)
}

/** No node lags by so many blocks: what is told to stand further ahead stands nowhere. */
const aheadMax = 10_000n

/** The same by one endpoint, or by endpoints in turn. */
export async function replacedBy(
  rpc: Rpc,
  { number, hash }: { number: number; hash: string },
): Promise<boolean | undefined> {
  const calls = [hashCall(number), ...headCalls.slice(0, 1)]
  const [answer, ...heads] = await rpc.batch(calls, { isEnough: isFound })
  const read = readAnswer(answer, hashSchema)
  if ('status' in read) return undefined
  if (read.value) return !sameHex(read.value.hash, hash)
  const [latest] = readHeads(heads)
  return latest !== undefined && BigInt(number) > latest + aheadMax ? true : undefined
}

function hashCall(number: number) {
  return { method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] }
}
