/**
 * Reads logs over a range of blocks from nodes that refuse long ranges or long answers. A refused range is
 * halved, up to a fixed number of requests. A range that was not read in full is `unavailable`, never
 * empty.
 */
import * as z from 'zod'
import type { Hex } from '../../hex.ts'
import { hexOf, hexSchema, positionSchema, wordSchema } from '../../hex.ts'
import { listOf } from '../../list.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { Rpc, RpcLimits } from './rpc.ts'

/** Filter by the logging contract and topics. */
export type LogFilter = { address: Hex; topics: readonly unknown[] }
/** Range of blocks, both ends included. */
export type BlockRange = { from: bigint; to: bigint }

/** Schema of one event log as a node answers it. */
export const logSchema = z.object({
  address: hexSchema,
  topics: listOf(wordSchema, 4),
  data: hexSchema,
  logIndex: positionSchema,
  transactionHash: wordSchema,
  blockNumber: positionSchema,
})

/** A log that passed `logSchema`. */
export type Log = z.output<typeof logSchema>

const placedLog = logSchema.extend({ blockHash: wordSchema })
/** A log together with its block. */
export type PlacedLog = z.output<typeof placedLog>

/** Longest list of logs; 16 MB hold fewer. */
const logsMax = 40_000
/** Schema of an answer to eth_getLogs. */
export const placedLogs = listOf(placedLog, logsMax)

// Hosted nodes commonly refuse eth_getLogs over more than 10,000 blocks.
const searchBlocksMax = 9_000n
const requestsMax = 12
/** Room for about 7,000 logs: somebody may fill a block with logs to hide one among them. */
const responseBytesMax = 4_194_304

/**
 * Returns the range in which to search for the log of a signature that is valid for minutes. It starts at
 * `since`, the latest block at signing time. If that is unknown or ahead of the chain, the last blocks are
 * searched.
 */
export function searchedRange(latest: bigint, since?: bigint): BlockRange {
  const oldest = latest > searchBlocksMax ? latest - searchBlocksMax : 0n
  if (since === undefined || since > latest) return { from: oldest, to: latest }
  const end = since + searchBlocksMax
  return { from: since, to: end < latest ? end : latest }
}

/** Returns all logs of the range, in their order. */
export async function readLogs(
  rpc: Rpc,
  filter: LogFilter,
  range: BlockRange,
  limits: RpcLimits = {},
): Promise<{ logs: PlacedLog[] } | Unavailable> {
  const logs: PlacedLog[] = []
  const open = [range]
  for (let request = 0; request < requestsMax; request += 1) {
    const next = open.pop()
    if (!next) return { logs }
    const asked = { ...filter, fromBlock: hexOf(next.from), toBlock: hexOf(next.to) }
    const answer = await rpc.request('eth_getLogs', [asked], { responseBytesMax, ...limits })
    const read = readAnswer(answer, placedLogs)
    if ('value' in read) logs.push(...read.value.filter((log) => isWithin(log, next)))
    // A result that the schema rejects would not be valid for a shorter range either.
    else if ('result' in answer || next.from === next.to) return read
    else open.push(...halves(next))
  }
  return open.length === 0 ? { logs } : unavailable('the logs take too many requests')
}

/** Returns true if a log is from a block that was asked for. Others are no answer. */
function isWithin({ blockNumber }: PlacedLog, { from, to }: BlockRange): boolean {
  return blockNumber >= from && blockNumber <= to
}

/** Returns true if an answer to eth_getLogs has any log. A node that lags may not have it yet. */
export function hasLogs([answer]: readonly RpcAnswer[]): boolean {
  const read = readAnswer(answer, placedLogs)
  return 'value' in read && read.value.length > 0
}

/** Splits a range. The earlier half is last, because the caller takes the last one next. */
function halves({ from, to }: BlockRange): BlockRange[] {
  const middle = (from + to) / 2n
  return [
    { from: middle + 1n, to },
    { from, to: middle },
  ]
}
