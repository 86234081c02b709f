/**
 * Proves that a transfer is in a block, by the receipt's Merkle-Patricia proof against the block header's
 * root. Headers and receipts are encoded as consensus hashes them: RLP over the fields in their order. The
 * encoding may be wrong for a network with fields that are not listed here, so hash and root are compared.
 */
import {
  bytesToHex,
  concatBytes,
  hexToBytes,
  keccak256,
  numberToBytes,
  numberToHex,
  toRlp,
} from 'viem/utils'
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import { type Hex, hexSchema, quantitySchema, sameHex, wordSchema } from '../hex.ts'
import { listOf } from '../registry.ts'
import { type RpcAnswer, readRpcAnswer, type Unavailable, unavailable } from './rpc/endpoints.ts'
import { type ChainWorld, type Rpc, rpcsFor } from './rpc/rpc.ts'
import { receiptCalls } from './use.ts'

const logsMax = 10_000

// RLP encodes a number without leading zeros, and zero as no bytes at all.
const quantity = quantitySchema.transform(
  (value): Hex => (value === 0n ? '0x' : numberToHex(value)),
)
const later = <Schema extends z.ZodType>(schema: Schema) => schema.nullish()

/**
 * Fields of a header in the order of its RLP: Ethereum's (go-ethereum core/types/block.go), with the fields
 * of Avalanche's C-Chain in the positions of coreth. Fields that a fork added are left out if absent.
 */
export const headerSchema = z.object({
  parentHash: wordSchema,
  sha3Uncles: wordSchema,
  miner: hexSchema,
  stateRoot: wordSchema,
  transactionsRoot: wordSchema,
  receiptsRoot: wordSchema,
  logsBloom: hexSchema,
  difficulty: quantity,
  number: quantity,
  gasLimit: quantity,
  gasUsed: quantity,
  timestamp: quantity,
  extraData: hexSchema,
  mixHash: wordSchema,
  nonce: hexSchema,
  extDataHash: later(wordSchema),
  /** EIP-1559 */
  baseFeePerGas: later(quantity),
  extDataGasUsed: later(quantity),
  blockGasCost: later(quantity),
  /** EIP-4895 */
  withdrawalsRoot: later(wordSchema),
  /** EIP-4844 */
  blobGasUsed: later(quantity),
  excessBlobGas: later(quantity),
  /** EIP-4788 */
  parentBeaconBlockRoot: later(wordSchema),
  /** EIP-7685 */
  requestsHash: later(wordSchema),
  /** EIP-7928 */
  blockAccessListHash: later(wordSchema),
  /** EIP-7843 */
  slotNumber: later(quantity),
  timestampMilliseconds: later(quantity),
  minDelayExcess: later(quantity),
})

const headerOrder = headerSchema.keyof().options

/** Returns the header's RLP. Its keccak-256 hash is the block's hash. */
export function encodeHeader(header: z.output<typeof headerSchema>): Hex {
  return toRlp(headerOrder.flatMap((field) => header[field] ?? []))
}

/** Schema of a receipt as a node answers it, with the fields that locate a log in it. */
export const encodableReceiptSchema = z.object({
  transactionHash: wordSchema,
  // A type is one byte below 0x80 (EIP-2718).
  type: later(quantitySchema.refine((type) => type < 0x80n)),
  status: quantity,
  cumulativeGasUsed: quantity,
  logsBloom: hexSchema,
  logs: listOf(
    z.object({
      address: hexSchema,
      topics: listOf(wordSchema, 4),
      data: hexSchema,
      logIndex: quantitySchema,
    }),
    logsMax,
  ),
  depositNonce: later(quantity),
  depositReceiptVersion: later(quantity),
})

/** Encodes a receipt as the receipt trie holds it: bare RLP, or RLP after its type byte (EIP-2718). */
export function encodeReceipt(
  receipt: z.output<typeof encodableReceiptSchema>,
): Uint8Array<ArrayBufferLike> {
  const { type, status, cumulativeGasUsed, logsBloom, depositNonce, depositReceiptVersion } =
    receipt
  const logs = receipt.logs.map(({ address, topics, data }) => [address, topics, data])
  // Deposit transactions of the OP Stack: since Canyon both fields are hashed; before it neither was.
  const deposit = depositNonce && depositReceiptVersion ? [depositNonce, depositReceiptVersion] : []
  const encoded = toRlp([status, cumulativeGasUsed, logsBloom, logs, ...deposit], 'bytes')
  return type ? concatBytes([numberToBytes(type, { size: 1 }), encoded]) : encoded
}

/** The trie's root, and the RLP of the nodes on the path to a value, root first. */
export type TriePath = { root: Hex; nodes: Hex[] }

type Bytes = Uint8Array<ArrayBufferLike>
type Entry = { key: string; value: Bytes }

/**
 * Builds the trie of the values, keyed by index, and keeps the path to one of them. Nodes are bytes,
 * because hex text of a whole block would take many times their size.
 */
export function pathInTrie(values: readonly Bytes[], index: number): TriePath {
  const entries = values.map((value, at) => ({ key: trieKey(at), value }))
  const target = entries[index]
  const nodes: Hex[] = []
  const root = bytesToHex(hashOf(entries, 0))
  return { root, nodes: nodes.toReversed() }

  function hashOf(below: readonly Entry[], depth: number): Bytes {
    const encoded = toRlp(nodeOf(below, depth, hashOf), 'bytes')
    if (target && below.includes(target)) nodes.push(bytesToHex(encoded))
    return keccak256(encoded, 'bytes')
  }
}

/** Makes a leaf, an extension or a branch over the entries, whose keys agree up to `depth`. */
function nodeOf(
  below: readonly Entry[],
  depth: number,
  hashOf: (below: readonly Entry[], depth: number) => Bytes,
): Bytes[] {
  const [first, second] = below
  if (first && !second) return [compact(first.key.slice(depth), '2'), first.value]
  const fork = forkOf(below, depth)
  if (first && fork > depth) {
    return [compact(first.key.slice(depth, fork), '0'), hashOf(below, fork)]
  }
  const branches = Array.from({ length: 16 }, (_, nibble): Bytes => {
    const chosen = below.filter(({ key }) => key[depth] === nibble.toString(16))
    return chosen.length === 0 ? nothing : hashOf(chosen, depth + 1)
  })
  // No key is a prefix of another, so a branch never holds a value.
  return [...branches, nothing]
}

const nothing = new Uint8Array(0)

/** Returns the first nibble at which the keys differ. */
function forkOf(below: readonly Entry[], depth: number): number {
  let at = depth
  while (below.every(({ key }) => key[at] !== undefined && key[at] === below[0]?.key[at])) at += 1
  return at
}

/** Returns the key of an index: the nibbles of its RLP. */
function trieKey(index: number): string {
  return toRlp(index === 0 ? '0x' : `0x${index.toString(16)}`).slice(2)
}

/** Packs nibbles into bytes (Yellow Paper, appendix C). A flag in front marks a leaf and odd length. */
function compact(nibbles: string, flag: '0' | '2'): Bytes {
  const isOdd = nibbles.length % 2 === 1
  return hexToBytes(isOdd ? `0x${flag === '2' ? '3' : '1'}${nibbles}` : `0x${flag}0${nibbles}`)
}

/** Position of a log: its block, its transaction and its index. */
export type LogPlace = { blockHash: Hex; transactionHash: Hex; logIndex: number }

/** The proof. All bytes are in the encoding that consensus hashes. */
export type ReceiptProof = {
  status: 'proven'
  transactionIndex: number
  /** Index of the log within the receipt. `logIndex` counts the logs of the whole block. */
  logPosition: number
  receipt: Hex
  /** Trie nodes from the root, which the header's receiptsRoot names, to the leaf with the receipt. */
  nodes: Hex[]
  header: Hex
}

const blockBytesMax = 16_777_216
const transactionsMax = 10_000
const proofCharactersMax = 262_144
// Limits for nodes that do not know eth_getBlockReceipts.
const singlyMax = 400
const singlyPerRequest = 100

const blockSchema = headerSchema.extend({
  transactions: listOf(wordSchema, transactionsMax),
})
const receiptsSchema = listOf(encodableReceiptSchema, transactionsMax)
type Receipt = z.output<typeof encodableReceiptSchema>

/** Returns the proof of the first endpoint whose block and receipts add up. */
export async function proveReceipt(
  world: ChainWorld,
  chain: Chain,
  place: LogPlace,
): Promise<ReceiptProof | Unavailable> {
  let read: ReceiptProof | Unavailable = unavailable('no endpoint is configured')
  for (const rpc of rpcsFor(world, chain)) {
    read = await proveBy(rpc, place).catch((error) => unavailable(String(error)))
    if (read.status === 'proven') break
  }
  return read
}

/** Reads the block in one HTTP request, or in a few more if the node cannot return all receipts at once. */
async function proveBy(rpc: Rpc, place: LogPlace): Promise<ReceiptProof | Unavailable> {
  const [blockAnswer, receiptsAnswer] = await rpc.batch(
    [
      { method: 'eth_getBlockByHash', params: [place.blockHash, false] },
      { method: 'eth_getBlockReceipts', params: [place.blockHash] },
    ],
    { responseBytesMax: blockBytesMax },
  )
  const block = readRpcAnswer(blockAnswer, blockSchema)
  if ('status' in block) return block
  const { transactions, ...header } = block.value
  const receipts = await readBlockReceipts(rpc, transactions, receiptsAnswer)
  return 'status' in receipts ? receipts : assemble(place, header, receipts.value)
}

function assemble(
  place: LogPlace,
  header: z.output<typeof headerSchema>,
  receipts: readonly Receipt[],
): ReceiptProof | Unavailable {
  const isOfPayment = (one: Receipt) => sameHex(one.transactionHash, place.transactionHash)
  const transactionIndex = receipts.findIndex(isOfPayment)
  const logs = receipts[transactionIndex]?.logs ?? []
  const logPosition = logs.findIndex(({ logIndex }) => logIndex === BigInt(place.logIndex))
  if (logPosition < 0) return unavailable('the block does not have this log')
  const encodedHeader = encodeHeader(header)
  if (!sameHex(keccak256(encodedHeader), place.blockHash)) {
    return unavailable('the header has fields of its own kind')
  }
  const encoded = receipts.map(encodeReceipt)
  const { root, nodes } = pathInTrie(encoded, transactionIndex)
  if (!sameHex(root, header.receiptsRoot)) {
    return unavailable('a receipt of the block has an encoding of its own kind')
  }
  const receipt = bytesToHex(encoded[transactionIndex] ?? new Uint8Array(0))
  return [receipt, encodedHeader, ...nodes].join('').length > proofCharactersMax
    ? unavailable('the proof is too long')
    : { status: 'proven', transactionIndex, logPosition, receipt, nodes, header: encodedHeader }
}

async function readBlockReceipts(
  rpc: Rpc,
  hashes: readonly Hex[],
  together: RpcAnswer | undefined,
): Promise<{ value: Receipt[] } | Unavailable> {
  const isRefused = together && 'failure' in together && together.failure.kind === 'rpc'
  if (!isRefused) return readRpcAnswer(together, receiptsSchema)
  if (hashes.length > singlyMax) return unavailable('the block is too large to read one by one')
  const receipts: Receipt[] = []
  for (let from = 0; from < hashes.length; from += singlyPerRequest) {
    const calls = receiptCalls(hashes.slice(from, from + singlyPerRequest))
    for (const answer of await rpc.batch(calls, { responseBytesMax: blockBytesMax })) {
      const read = readRpcAnswer(answer, encodableReceiptSchema)
      if ('status' in read) return read
      receipts.push(read.value)
    }
  }
  return { value: receipts }
}
