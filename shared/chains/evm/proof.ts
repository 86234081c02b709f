/**
 * Proves from a transaction's receipt that a payment happened, and how final that is. The proof is
 * the token's logs: a transaction may succeed without the payment in it, and its status says only
 * that it ran. Nothing the payee or a facilitator claims is an input.
 */
import * as z from 'zod'
import type { Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { positionSchema, quantitySchema, wordSchema } from '../hex.ts'
import type { RpcAnswer, RpcCall, Unavailable } from './answer.ts'
import { isFound, readAnswer } from './answer.ts'
import type { Log } from './log-ranges.ts'
import { logSchema } from './log-ranges.ts'
import type { ExpectedTransfer } from './logs.ts'
import { findTransfer, outgoing, sameHex } from './logs.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcFor, rpcsFor } from './rpc.ts'
import type { Settlement } from './settlement.ts'
import { headCalls } from './unused.ts'

/** Where a block stands. `confirmations` is 1 in the latest block. */
type Place = Pick<Settlement, 'blockNumber' | 'blockHash' | 'confirmations' | 'finality'>

/** Where a transaction stands. */
type Inclusion = Place & { transactionHash: Hex }

/**
 * `not_found`: pending or unknown, which is not a failure. `unmatched`: it ran, and this payment
 * is not in it. `reverted` and `unmatched` bind only once their finality is `finalized`.
 */
export type Proof =
  | { status: 'not_found' }
  | (Inclusion & { status: 'reverted' | 'unmatched' })
  | (Inclusion & { status: 'settled'; logIndex: number })

/** Reads the receipt with the block tags in one HTTP request and looks for the payment. */
export async function proveTransfer(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  expected: ExpectedTransfer,
  transactionHash: Hex,
): Promise<Proof | Unavailable> {
  const receipt = (await readReceipts(world, chain, [transactionHash])).get(transactionHash)
  if (receipt === null) return { status: 'not_found' }
  if (!receipt) return proveByLogs(world, chain, token, expected, transactionHash)
  const { blockNumber, blockHash, confirmations, finality } = receipt
  const inclusion = { transactionHash, blockNumber, blockHash, confirmations, finality }
  if (receipt.status !== 1n) return { status: 'reverted', ...inclusion }
  return judge(inclusion, receipt.logs, token, expected)
}

function judge(
  inclusion: Inclusion,
  logs: readonly Log[],
  token: Token,
  expected: ExpectedTransfer,
): Proof {
  const logIndex = findTransfer(logs, token, expected)
  if (logIndex === undefined) return { status: 'unmatched', ...inclusion }
  return { status: 'settled', ...inclusion, logIndex: Number(logIndex) }
}

const transactionSchema = z
  .object({ blockNumber: positionSchema.nullable(), blockHash: wordSchema.nullable() })
  .nullable()
/** As much as a block can hold of transfers of nothing in the wallet's name. */
const ownLogsLimits = { timeoutMilliseconds: 5_000, responseBytesMax: 16_777_216 }

/**
 * Looks for the payment among what left the wallet in the transaction's block: whoever brings an
 * authorization to the chain may put so many other logs beside it that no receipt of it can be read.
 */
async function proveByLogs(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  expected: ExpectedTransfer,
  transactionHash: Hex,
): Promise<Proof | Unavailable> {
  const rpc = rpcFor(world, chain)
  const call = { method: 'eth_getTransactionByHash', params: [transactionHash] }
  const [transaction, ...heads] = await rpc.batch([call, ...headCalls], { isEnough: isFound })
  const read = readAnswer(transaction, transactionSchema)
  if ('status' in read) return read
  const { blockNumber: number, blockHash } = read.value ?? {}
  if (!number || !blockHash) return { status: 'not_found' }
  const filter = { ...outgoing(token, expected.from), blockHash }
  const answer = await rpc.request('eth_getLogs', [filter], ownLogsLimits)
  const logs = readAnswer(answer, z.array(logSchema))
  if ('status' in logs) return logs
  const own = logs.value.filter((log) => sameHex(log.transactionHash, transactionHash))
  const place = placeOf({ number, hash: blockHash }, readHeads(heads))
  return judge({ transactionHash, ...place }, own, token, expected)
}

const logsMax = 2_000

/** A receipt as a node answers it; one with more logs than this is not read. */
export const receiptSchema = z.object({
  transactionHash: wordSchema,
  blockNumber: positionSchema,
  blockHash: wordSchema,
  status: quantitySchema,
  logs: z.array(logSchema).max(logsMax),
})
const headSchema = z.object({ number: positionSchema })

/** A receipt in its place; `status` is 1 when the transaction did not revert. */
export type PlacedReceipt = z.output<typeof receiptSchema> & Inclusion

/** Receipts in one HTTP request; one of a full batch of transfers has about 40 kB. */
export const receiptsPerRequest = 16

/** Asks for the receipts of transactions. */
export function receiptCalls(hashes: readonly Hex[]): RpcCall[] {
  return hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
}

/** The ends of a chain by the node's own tags, in the order of `headCalls`. */
export type Heads = (bigint | undefined)[]

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

/** A node that does not know a tag answers an error or null: then nothing is claimed from it. */
export function readHeads(answers: readonly RpcAnswer[]): Heads {
  return answers.map((answer) => {
    const read = readAnswer(answer, headSchema)
    return 'value' in read ? read.value.number : undefined
  })
}

/** Where a block stands between the ends of the chain. */
export function placeOf(
  { number, hash }: { number: bigint; hash: Hex },
  [latest, safe, finalized]: Heads,
): Place {
  const covers = (head: bigint | undefined) => head !== undefined && head >= number
  const finality = covers(finalized) ? 'finalized' : covers(safe) ? 'safe' : 'included'
  // Another backend may answer for the tags and lag behind; the block itself is one confirmation.
  const depth = latest !== undefined && latest > number ? latest - number : 0n
  return { blockNumber: number, blockHash: hash, confirmations: Number(depth) + 1, finality }
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
