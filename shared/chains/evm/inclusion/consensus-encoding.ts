/**
 * Encodes block headers and receipts as consensus hashes them: RLP over the fields in their order. A node
 * answers them as JSON in any order. The encoding may be wrong for a network with fields that are not
 * listed here, so the caller must compare the hash or root.
 */
import { concatBytes, numberToBytes, numberToHex, toRlp } from 'viem/utils'
import * as z from 'zod'
import type { Hex } from '../../hex.ts'
import { hexSchema, quantitySchema, wordSchema } from '../../hex.ts'
import { listOf } from '../../list.ts'

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
