/**
 * Reads who paid whom with the tokens of a chain, a range of blocks at a time, and where the chain
 * ends. A range counts as read only if the same round trip shows that the node knows its last block:
 * one that lags behind would answer that nothing happened there.
 */
import { encodeEventTopics } from 'viem/utils'
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { quantitySchema, wordSchema } from '../hex.ts'
import { tokenByAddress } from '../registry.ts'
import { tokenAbi } from './abi.ts'
import type { RpcCall, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import { logSchema, readTransfer } from './logs.ts'
import type { ChainWorld } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** A Transfer log of a token that the registry knows. */
export type Transfer = {
  token: Token
  from: Address
  to: Address
  value: bigint
  transactionHash: Hex
  logIndex: number
  blockNumber: number
  blockHash: Hex
}

/** The ends of a chain by the node's own block tags. */
export type Heads = { latest: Block; safe: number; finalized: number }
/** Number and hash of a block. */
export type Block = { number: number; hash: Hex }
/** Blocks from one to another, both included. */
export type Range = { from: number; to: number }

const timeoutMilliseconds = 5_000
/** About 7,000 logs; several times this has to fit into the memory of an edge function. */
const responseBytesMax = 4_194_304

const blockSchema = z.object({ number: quantitySchema.transform(Number), hash: wordSchema })
const placedLog = logSchema.extend({ blockHash: wordSchema })

/** Where the chain ends now. A node that does not know the tags has no heads. */
export async function readHeads(world: ChainWorld, chain: Chain): Promise<Heads | Unavailable> {
  const answers = await rpcFor(world, chain).batch(['latest', 'safe', 'finalized'].map(blockCall))
  const [latest, safe, finalized] = answers.map((answer) => readAnswer(answer, blockSchema))
  if (!latest || !safe || !finalized) return unavailable('a tag was left unanswered')
  if ('status' in latest) return latest
  if ('status' in safe) return safe
  if ('status' in finalized) return finalized
  return { latest: latest.value, safe: safe.value.number, finalized: finalized.value.number }
}

/** Transfers in these blocks to these recipients, or to anybody when `recipients` is null. */
export async function readTransfers(
  world: ChainWorld,
  chain: Chain,
  range: Range,
  recipients: readonly Address[] | null,
): Promise<{ transfers: Transfer[] } | Unavailable> {
  // A filter without alternatives would match everything.
  if (recipients?.length === 0) return { transfers: [] }
  const calls = [logsCall(chain, range, recipients), blockCall(toHex(range.to))]
  const limits = { timeoutMilliseconds, responseBytesMax }
  const [logsAnswer, lastAnswer] = await rpcFor(world, chain).batch(calls, limits)
  const logs = readAnswer(logsAnswer, z.array(placedLog))
  if ('status' in logs) return logs
  const last = readAnswer(lastAnswer, blockSchema)
  if ('status' in last) return last
  if (logs.value.some(({ blockNumber: at }) => at < range.from || at > range.to)) {
    return unavailable('a log of a block that was not asked for')
  }
  return { transfers: logs.value.flatMap((log) => describe(chain, log)) }
}

function blockCall(tagOrHex: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tagOrHex, false] }
}

function logsCall(chain: Chain, range: Range, recipients: readonly Address[] | null): RpcCall {
  const [signature] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })
  const to = recipients?.map((address) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`)
  const filter = {
    address: chain.tokens.map(({ address }) => address),
    fromBlock: toHex(range.from),
    toBlock: toHex(range.to),
    topics: [signature, null, to ?? null],
  }
  return { method: 'eth_getLogs', params: [filter] }
}

function toHex(block: number): Hex {
  return `0x${block.toString(16)}`
}

function describe(chain: Chain, log: z.output<typeof placedLog>): Transfer[] {
  const token = tokenByAddress(chain, log.address)
  const transfer = readTransfer(log)
  if (!token || !transfer) return []
  const { transactionHash, blockHash } = log
  const place = { logIndex: Number(log.logIndex), blockNumber: Number(log.blockNumber) }
  return [{ token, ...transfer, transactionHash, blockHash, ...place }]
}
