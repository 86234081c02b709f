/**
 * Proves that a block holds a receipt with its logs, to a verifier who trusts only the block's hash. The
 * proof consists of the header, the receipt and the trie nodes between them. It is checked here before it
 * is `proven`; if it does not add up, no proof is returned.
 */
import { bytesToHex, keccak256 } from 'viem/utils'
import * as z from 'zod'
import type { Chain } from '../../chain.ts'
import type { Hex } from '../../hex.ts'
import { wordSchema } from '../../hex.ts'
import { listOf } from '../../list.ts'
import { receiptCalls } from '../proof.ts'
import type { RpcAnswer, Unavailable } from '../rpc/answer.ts'
import { readAnswer, unavailable } from '../rpc/answer.ts'
import { sameHex } from '../rpc/logs.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import { rpcsFor } from '../rpc/rpc.ts'
import {
  encodableReceiptSchema,
  encodeHeader,
  encodeReceipt,
  headerSchema,
} from './consensus-encoding.ts'
import { pathInTrie } from './trie.ts'

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
  const block = readAnswer(blockAnswer, blockSchema)
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
  if (!isRefused) return readAnswer(together, receiptsSchema)
  if (hashes.length > singlyMax) return unavailable('the block is too large to read one by one')
  const receipts: Receipt[] = []
  for (let from = 0; from < hashes.length; from += singlyPerRequest) {
    const calls = receiptCalls(hashes.slice(from, from + singlyPerRequest))
    for (const answer of await rpc.batch(calls, { responseBytesMax: blockBytesMax })) {
      const read = readAnswer(answer, encodableReceiptSchema)
      if ('status' in read) return read
      receipts.push(read.value)
    }
  }
  return { value: receipts }
}
