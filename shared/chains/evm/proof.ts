/**
 * Proves from a transaction's receipt that a payment happened, and how final that is. The proof is
 * the token's logs: a transaction may succeed without the payment in it, and its status says only
 * that it ran. Nothing the payee or a facilitator claims is an input.
 */
import * as z from 'zod'
import type { Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { quantitySchema, wordSchema } from '../hex.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { isFound, readAnswer, unavailable } from './answer.ts'
import type { ExpectedTransfer } from './logs.ts'
import { findTransfer, logSchema, sameHex } from './logs.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** Only what the node's own block tags say; a depth in blocks never makes `safe` or `finalized`. */
export type Finality = 'included' | 'safe' | 'finalized'

/** Where a transaction stands. `confirmations` is 1 in the latest block. */
export type Inclusion = {
  transactionHash: Hex
  blockNumber: bigint
  blockHash: Hex
  confirmations: number
  finality: Finality
}

/**
 * `not_found`: pending or unknown, which is not a failure. `unmatched`: it ran, and this payment
 * is not in it. `reverted` and `unmatched` bind only once their finality is `finalized`.
 */
export type Proof =
  | { status: 'not_found' }
  | (Inclusion & { status: 'reverted' | 'unmatched' })
  | (Inclusion & { status: 'settled'; logIndex: number })

const logsMax = 2_000

/** A receipt as a node answers it; `status` is 1 when the transaction did not revert. */
export const receiptSchema = z.object({
  transactionHash: wordSchema,
  blockNumber: quantitySchema,
  blockHash: wordSchema,
  status: quantitySchema,
  logs: z.array(logSchema).max(logsMax),
})
const headSchema = z.object({ number: quantitySchema })

/**
 * Reads receipt and block tags in one HTTP request and looks for the payment. An endpoint that knows
 * no receipt may lag or have lost it, so the next one is asked before it is `not_found`.
 */
export async function proveTransfer(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  expected: ExpectedTransfer,
  transactionHash: Hex,
): Promise<Proof | Unavailable> {
  const calls = [
    { method: 'eth_getTransactionReceipt', params: [transactionHash] },
    ...(['latest', 'safe', 'finalized'] as const).map(headCall),
  ]
  const answers = await rpcFor(world, chain).batch(calls, { isEnough: isFound })
  const [receiptAnswer, ...heads] = answers
  const read = readAnswer(receiptAnswer, receiptSchema.nullable())
  if ('status' in read) return read
  const receipt = read.value
  if (!receipt) return { status: 'not_found' }
  if (!sameHex(receipt.transactionHash, transactionHash)) return unavailable('a foreign receipt')
  const inclusion = placeInChain(receipt, heads.map(readHead))
  if (receipt.status !== 1n) return { status: 'reverted', ...inclusion }
  const logIndex = findTransfer(receipt.logs, token, expected)
  if (logIndex === undefined) return { status: 'unmatched', ...inclusion }
  return { status: 'settled', ...inclusion, logIndex: Number(logIndex) }
}

const hashSchema = z.object({ hash: wordSchema }).nullable()

/**
 * Whether another block now stands at this height: the one proof that what was included is gone. A
 * missing receipt is none, because a lagging node answers that too. Undefined when the node does
 * not say.
 */
export async function isBlockReplaced(
  world: ChainWorld,
  chain: Chain,
  block: { number: number; hash: string },
): Promise<boolean | undefined> {
  const height = `0x${block.number.toString(16)}`
  const params = [height, false]
  const limits = { isEnough: isFound }
  const answer = await rpcFor(world, chain).request('eth_getBlockByNumber', params, limits)
  const read = readAnswer(answer, hashSchema)
  return 'value' in read && read.value ? !sameHex(read.value.hash, block.hash) : undefined
}

/** The call for the block that a tag names. */
export function headCall(tag: 'latest' | 'safe' | 'finalized') {
  return { method: 'eth_getBlockByNumber', params: [tag, false] }
}

/** A node that does not know a tag answers an error or null: then nothing is claimed from it. */
export function readHead(answer: RpcAnswer): bigint | undefined {
  const read = readAnswer(answer, headSchema)
  return 'value' in read ? read.value.number : undefined
}

/** Where a receipt's block stands among the latest, safe and finalized ones. */
export function placeInChain(
  { transactionHash, blockNumber, blockHash }: z.output<typeof receiptSchema>,
  [latest, safe, finalized]: (bigint | undefined)[],
): Inclusion {
  const covers = (head: bigint | undefined) => head !== undefined && head >= blockNumber
  const finality = covers(finalized) ? 'finalized' : covers(safe) ? 'safe' : 'included'
  // Another backend may answer for the tags and lag behind; the receipt itself is one confirmation.
  const depth = latest !== undefined && latest > blockNumber ? latest - blockNumber : 0n
  return { transactionHash, blockNumber, blockHash, confirmations: Number(depth) + 1, finality }
}
